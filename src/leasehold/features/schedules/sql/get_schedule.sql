-- A schedule of the current tenant by its name; no row when there is none.
create or replace function leasehold.get_schedule(p_name text) returns setof leasehold.schedule_view
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select (leasehold.view_schedule(s)).* from leasehold.schedule s
  where s.tenant_id = leasehold.current_tenant() and s.name = p_name and s.removed_at is null
$$;

revoke all on function leasehold.get_schedule(text) from public;
grant execute on function leasehold.get_schedule(text) to leasehold_api, leasehold_worker, leasehold_readonly;
