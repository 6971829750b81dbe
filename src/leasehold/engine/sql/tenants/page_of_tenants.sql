-- So many tenants by name, after a name, for the operator.
-- for: operator
create or replace function leasehold.page_of_tenants(p_after text default '', p_limit integer default 50)
returns table (
  tenant_id uuid, name text, weight real, max_running integer, max_queued integer, created_at timestamptz, paused boolean
)
language sql stable
set enable_seqscan = off
as $$
  select tenant_id, name, weight, max_running, max_queued, created_at, paused
  from leasehold.tenant where name > p_after order by name limit least(greatest(p_limit, 1), 1000)
$$;
