-- All tenants, for the operator.
-- for: operator
create or replace function leasehold.list_tenants()
returns table (
  tenant_id uuid, name text, weight real, max_running integer, max_queued integer, created_at timestamptz, paused boolean
)
language sql stable as $$
  select tenant_id, name, weight, max_running, max_queued, created_at, paused from leasehold.tenant order by name
$$;
