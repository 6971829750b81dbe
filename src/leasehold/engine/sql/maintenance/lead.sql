-- The leader's look, one transaction for all that a worker might find to do: take or keep the lead for so many seconds, and
-- tell what is due. There is one leader; with none or two nothing is wrong, but late or done twice.
--
-- due: what has something to do now, by name. next_s: seconds until the next moment at which something is due (null: none is
-- known). queues, passes: where jobs wait that some worker could take, and whose turn is next there. is_behind: a floor can be
-- raised. Gates are due a little before their time, for whoever rings them looks at the moment itself.
-- for: worker
-- settings: hot
create or replace function leasehold.lead(
  p_worker uuid, p_seconds double precision,
  out leads boolean, out due text[], out next_s double precision, out queues text[], out passes bigint[], out is_behind boolean
)
language plpgsql as $$
declare
  v_now   timestamptz := leasehold.now();
  v_until timestamptz;
  v_next  timestamptz;
  v_due   text[];
  v_soon  timestamptz;
begin
  select until into v_until from leasehold.duty where duty = 'leader' and worker_id = p_worker;
  leads := coalesce(v_until > v_now + make_interval(secs => p_seconds * 2 / 3), false);
  if not leads then  -- written now and then only: an idle system writes little
    if not exists (select from leasehold.duty where duty = 'leader' and worker_id <> p_worker and until >= v_now) then
      leads := leasehold.acquire_leadership('leader', p_worker, p_seconds);
    end if;
    if not leads then
      return;
    end if;
  end if;

  select array_agg(f.due) filter (where f.due is not null), min(f.next_at) into v_due, v_soon
  from leasehold.due_in_features(v_now) f;
  due := v_due || array_remove(array[
    case when exists (select from leasehold.deferred where run_at <= v_now) then 'dispatch due jobs' end,
    case when exists (select from leasehold.news) or exists (select from leasehold.unsettled) or exists (select from leasehold.stop)
      or exists (select from leasehold.waiting where until <= v_now)
      or exists (select from leasehold.flow where state = 'running' and deadline <= v_now)
      or exists (select from leasehold.signal) and exists (select from leasehold.waiting where what = 'signal')
      then 'advance flows' end,
    case when exists (select from leasehold.parked) then 'release held jobs' end,
    -- Who was silent itself, as after a freeze or a jump of the clock, does not judge others before it has beaten.
    case when exists (
      select from leasehold.worker where ended_at is null and beat_at < v_now - make_interval(secs => lease_s)
    ) and exists (
      select from leasehold.worker where worker_id = p_worker and beat_at >= v_now - make_interval(secs => lease_s)
    ) then 'rescue silent workers' end,
    case when exists (select from leasehold.gate_bell where at <= v_now + interval '1 s') then 'ring gates' end
  ], null);

  v_next := least(
    (select run_at from leasehold.deferred where run_at > v_now order by run_at limit 1),
    v_soon,
    (select until from leasehold.waiting where until > v_now order by until limit 1),
    (select deadline from leasehold.flow where state = 'running' and deadline > v_now order by deadline limit 1),
    (select at - interval '1 s' from leasehold.gate_bell where at > v_now + interval '1 s' order by at limit 1),
    (
      select min(beat_at + make_interval(secs => lease_s)) from leasehold.worker
      where ended_at is null and beat_at between v_now - make_interval(secs => lease_s) and v_now
    )
  );
  next_s := greatest(extract(epoch from v_next - v_now), 0);

  select
    coalesce(array_agg(l.queue) filter (where next.pass is not null and not q.paused and served.is_served), '{}'),
    coalesce(array_agg(next.pass) filter (where next.pass is not null and not q.paused and served.is_served), '{}'),
    coalesce(bool_or(least(next.pass, f.clock) > f.floor), false)
  into queues, passes, is_behind
  from leasehold.lane l join leasehold.queue q on q.queue = l.queue
  cross join lateral (  -- in a row of their own: see exchange
    select pg_sequence_last_value(l.floor) as floor, pg_sequence_last_value(l.clock) as clock offset 0
  ) f
  left join lateral (
    select r.pass from leasehold.ready r where r.lane = l.lane and r.pass >= f.floor order by r.pass limit 1
  ) next on true
  cross join lateral (
    select exists (select from leasehold.worker w where w.ended_at is null and l.queue = any(w.queues)) as is_served
  ) served;
end
$$;
