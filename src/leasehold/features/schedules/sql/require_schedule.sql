-- A schedule of the current tenant, locked; LH404 for one that is another's or never was.
-- internal
create or replace function leasehold.require_schedule(p_name text) returns leasehold.schedule
language plpgsql as $$
declare
  v_tenant   uuid := leasehold.current_tenant();
  v_schedule leasehold.schedule;
begin
  select * into v_schedule from leasehold.schedule where tenant_id = v_tenant and name = p_name and removed_at is null
  for no key update;
  if not found then
    raise exception 'there is no schedule %', quote_nullable(p_name) using errcode = 'LH404', hint = 'leasehold schedules list';
  end if;
  return v_schedule;
end
$$;
