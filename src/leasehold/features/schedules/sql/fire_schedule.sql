-- Make the jobs of ticks of a schedule that have come, and say what became of each. The caller did the arithmetic: its
-- ticks are the schedule's next one and newest ones up to now, the next one follows them. Everything else is decided
-- here, under the schedule's lock, in one transaction: nobody fires a tick twice.
--
-- A caller that is late, or computed from another revision, changes nothing and gets no row; one that finds the schedule
-- locked too: whoever holds it fires the tick or edits the schedule.
--
-- Ticks that passed while nobody was there: all fires the newest catch_up_max of them, one the newest, none the newest
-- if it is not older than a minute. The others are missed.
-- for: worker
-- settings: index
create or replace function leasehold.fire_schedule(
  p_schedule uuid, p_revision integer, p_ticks timestamptz[], p_next_at timestamptz
) returns table (tick_at timestamptz, outcome text, job_id uuid, detail text)
language plpgsql as $$
#variable_conflict use_column
declare
  c_on_time  constant interval := interval '1 minute';
  c_kept     constant integer := 100;
  v_tenant   uuid := leasehold.current_tenant();
  v_now      timestamptz := leasehold.now();
  v_schedule leasehold.schedule;
  v_late     boolean;
begin
  select * into v_schedule from leasehold.schedule s
  where s.schedule_id = p_schedule and s.tenant_id = v_tenant and s.revision = p_revision and s.next_at = p_ticks[1]
    and not s.paused
  for no key update skip locked;
  if not found then
    return;
  end if;
  if exists (select from unnest(p_ticks) with ordinality t(tick, o) where tick is null or tick > v_now or tick <= p_ticks[o - 1])
    or p_next_at <= p_ticks[cardinality(p_ticks)]
  then
    raise exception 'the ticks of a schedule grow, have come, and the next one follows them' using errcode = 'LH400';
  end if;

  for v_at in 1..cardinality(p_ticks) loop
    tick_at := p_ticks[v_at];
    job_id := null;
    detail := null;
    v_late := tick_at < v_now - c_on_time;
    if (case v_schedule.catch_up
      when 'all' then v_at <= cardinality(p_ticks) - v_schedule.catch_up_max
      when 'one' then v_at < cardinality(p_ticks)
      else v_at < cardinality(p_ticks) or v_late
    end) then
      outcome := 'missed';
    else
      begin
        select m.outcome, m.job_id into outcome, job_id from leasehold.insert_scheduled_job(v_schedule, tick_at, v_late) m;
      exception when sqlstate 'LH400' or sqlstate 'LH404' or sqlstate 'LH413' or sqlstate 'LH429' then
        -- Over its quota, or its queue is gone: the tick is spent, or it would be tried for ever.
        outcome := 'refused';
        detail := sqlerrm;
      end;
    end if;
    insert into leasehold.tick (schedule_id, tick_at, tenant_id, outcome, job_id, detail, at)
    values (p_schedule, tick_at, v_tenant, outcome, job_id, detail, v_now);
    if outcome = 'fired' then
      v_schedule.last_job := job_id;
    end if;
    return next;
  end loop;

  update leasehold.schedule s set next_at = p_next_at, last_at = tick_at, last_job = v_schedule.last_job
  where s.schedule_id = p_schedule;
  delete from leasehold.tick t where t.schedule_id = p_schedule and t.tick_at < (
    select k.tick_at from leasehold.tick k where k.schedule_id = p_schedule order by k.tick_at desc offset c_kept - 1 limit 1
  );
end
$$;
