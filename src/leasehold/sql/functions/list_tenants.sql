-- All tenants, for the operator.
create or replace function leasehold.list_tenants()
returns table (tenant_id uuid, name text, weight real, max_running integer, max_queued integer, created_at timestamptz)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$ select tenant_id, name, weight, max_running, max_queued, created_at from leasehold.tenant order by name $$;

revoke all on function leasehold.list_tenants() from public;
grant execute on function leasehold.list_tenants() to leasehold_operator;
