-- How many of each thing a tenant may have, and how many are usual.
-- for: operator
create or replace function leasehold.list_quotas(p_tenant uuid) returns table (what text, most integer, usual integer)
language sql stable as $$
  select q.what, coalesce((t.quotas ->> q.what)::integer, q.most), q.most
  from leasehold.tenant t, leasehold.quota q
  where t.tenant_id = p_tenant
  order by q.what
$$;
