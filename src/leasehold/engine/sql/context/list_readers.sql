-- Which logins that only read may read whom.
-- for: operator
create or replace function leasehold.list_readers() returns table (login name, tenant_id uuid, tenant text, created_at timestamptz)
language sql stable as $$
  select r.login, r.tenant_id, t.name, r.created_at from leasehold.reader r join leasehold.tenant t using (tenant_id) order by 1, 3
$$;
