-- A schedule of the current tenant by its name; no row when there is none.
-- for: api, worker, readonly
create or replace function leasehold.get_schedule(p_name text) returns setof leasehold.schedule_view
language sql stable as $$
  select (leasehold.view_schedule(s)).* from leasehold.schedule s
  where s.tenant_id = leasehold.current_tenant() and s.name = p_name and s.removed_at is null
$$;
