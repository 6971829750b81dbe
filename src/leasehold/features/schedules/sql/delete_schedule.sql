-- Remove a schedule of the current tenant; jobs that it made stay. Logged. One that code declares is only marked, so that
-- the next worker to start does not bring it back.
-- for: api, worker
create or replace function leasehold.delete_schedule(p_name text) returns void
language plpgsql as $$
declare
  v_schedule leasehold.schedule := leasehold.require_schedule(p_name);
begin
  if v_schedule.origin = 'code' then
    update leasehold.schedule set removed_at = leasehold.now(), next_at = null, revision = revision + 1
    where schedule_id = v_schedule.schedule_id;
  else
    delete from leasehold.schedule where schedule_id = v_schedule.schedule_id;
  end if;
  perform leasehold.log_action(v_schedule.tenant_id, 'schedule.delete', p_name);
end
$$;
