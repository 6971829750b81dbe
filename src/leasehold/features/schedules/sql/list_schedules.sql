-- The schedules of the current tenant by name; the next page begins after the last name of this one.
-- for: api, worker, readonly
create or replace function leasehold.list_schedules(p_after text default '', p_limit integer default 100)
returns setof leasehold.schedule_view
language sql stable as $$
  select (leasehold.view_schedule(s)).* from (
    select * from leasehold.schedule
    where tenant_id = leasehold.current_tenant() and name > coalesce(p_after, '') and removed_at is null
    order by name limit least(greatest(p_limit, 1), 1000)
  ) s
$$;
