-- How many of each thing a tenant may have, and how many are usual.
create or replace function leasehold.list_quotas(p_tenant uuid) returns table (what text, most integer, usual integer)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select q.what, coalesce((t.quotas ->> q.what)::integer, q.most), q.most
  from leasehold.tenant t, leasehold.quota q
  where t.tenant_id = p_tenant
  order by q.what
$$;

revoke all on function leasehold.list_quotas(uuid) from public;
grant execute on function leasehold.list_quotas(uuid) to leasehold_operator;
