-- Pause a schedule of the current tenant (it does not tick), or let it go on from the tick that the caller computed: what
-- would have come meanwhile does not come. Logged; again changes nothing.
-- for: api, worker
create or replace function leasehold.pause_schedule(p_name text, p_paused boolean, p_next_at timestamptz default null)
returns leasehold.schedule_view
language plpgsql as $$
declare
  v_schedule leasehold.schedule := leasehold.require_schedule(p_name);
begin
  if v_schedule.paused is distinct from p_paused then
    if not p_paused and p_next_at <= v_schedule.last_at then
      raise exception 'next_at % is not after the last tick', p_next_at using errcode = 'LH400';
    end if;
    update leasehold.schedule set
      paused = p_paused, next_at = case when p_paused then next_at else p_next_at end,
      revision = revision + 1, updated_at = leasehold.now()
    where schedule_id = v_schedule.schedule_id
    returning * into v_schedule;
    perform leasehold.log_action(
      v_schedule.tenant_id, case when p_paused then 'schedule.pause' else 'schedule.resume' end, p_name
    );
  end if;
  return leasehold.view_schedule(v_schedule);
end
$$;
