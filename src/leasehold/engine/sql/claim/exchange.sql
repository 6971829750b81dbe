-- Finish and claim in one call: one round trip and one commit for a batch of attempts. Returns up to p_n grants, each with
-- its fencing token; before them a row without a job for each token that was refused, because its lease had been taken. In
-- between, jobs that waited for their tenant to have room come back. Bells are answered on the way: see the tables of the
-- feature limits.
--
-- A worker that was registered for one tenant meets rows of that tenant alone. It leaves the clocks as they are: others' jobs
-- may stand before those that it takes, and must not seem to be late.
--
-- Plans are pinned: the statistics of a queue table always look empty, and a plan made for the empty table walks a
-- million rows the day there is a backlog.
-- for: worker
-- settings: hot
create or replace function leasehold.exchange(
  p_worker uuid, p_queues text[], p_n integer,
  p_tokens bigint[], p_outcomes text[], p_results jsonb[], p_errors jsonb[], p_delays double precision[]
) returns setof leasehold.granted
language plpgsql as $$
declare
  v_now      timestamptz;
  v_accepted bigint[];
  v_refused  leasehold.granted;
  v_only     uuid;
  v_parking  boolean;
  v_limited  boolean;
  v_slots    bigint;
  v_most     integer;    -- grants, once this lane is done
  v_lane     record;
  v_floor    bigint;
  v_from     bigint;     -- where this round begins to look
  v_top      bigint;
  v_rows     tid[];
  v_ids      uuid[];
  v_owners   uuid[];
  v_tenants  uuid[];
  v_parked   integer;
  v_granted  integer;
  v_bells    boolean;
  v_rang     boolean;
  v_bound    boolean;
  v_carried  boolean;    -- none of the jobs need be asked
  v_moved    boolean := false;  -- a bell was answered or a bound job started: that may have put rows into any lane
  v_left     tid[] := '{}';
  v_busy     tid[];
  v_got      integer := 0;
  -- one claim in sixteen starts at a lower priority, so that none starves
  v_first    integer := case when random() < 0.0625 then 1 + floor(random() * 3)::integer else 0 end;
  -- Behind the clock stands what other claims are taking, and what was taken and cannot be removed yet. Where many jobs end and
  -- many are asked for, three of four claims pass that over. What came late is behind it too, so the fourth does not, nor one
  -- that finds too few ahead.
  v_ahead    boolean := p_n >= 32 and cardinality(p_tokens) >= 32 and random() < 0.75;
  v_too_few  boolean;
begin
  select exists (select from leasehold.parked), exists (select from leasehold.kind where paused or max_running is not null)
  into v_parking, v_limited;
  if p_tokens <> '{}' then
    if v_parking then
      v_tenants := array(select distinct tenant_id from leasehold.lease where token = any(p_tokens));
    end if;
    v_accepted := leasehold.finish(p_tokens, p_outcomes, p_results, p_errors, p_delays);
    if cardinality(v_accepted) < cardinality(p_tokens) then
      foreach v_refused.token in array p_tokens loop
        continue when v_refused.token = any(v_accepted);
        return next v_refused;
      end loop;
    end if;
  end if;
  if p_n <= 0 then
    return;
  end if;
  if v_parking then
    perform leasehold.unpark(v_tenants);
  end if;

  -- The slots: a tenant that may run as many as all workers together can run needs no counting.
  select tenant_id, (select sum(slots) from leasehold.worker where ended_at is null) into v_only, v_slots
  from leasehold.worker where worker_id = p_worker and ended_at is null;
  if not found then
    raise exception 'worker % is not registered, or was declared lost', p_worker using errcode = 'LH411';
  end if;

  for v_lane in
    select
      l.lane, l.queue, l.clock, f.floor, f.ahead, q.max_running,
      coalesce(
        case when v_ahead then (select r.lane from leasehold.ready r where r.lane = l.lane and r.pass >= f.ahead order by r.pass limit 1) end,
        (select r.lane from leasehold.ready r where r.lane = l.lane and r.pass >= f.floor order by r.pass limit 1)
      ) is null as is_empty
    from leasehold.lane l join leasehold.queue q on q.queue = l.queue
    -- In a row of their own: used inline they are volatile, become a filter, and a scan walks everything. One below the
    -- floor stand the jobs that this claim itself has let pass a gate.
    cross join lateral (
      select pg_sequence_last_value(l.floor) - 1 as floor, pg_sequence_last_value(l.clock) as ahead offset 0
    ) f
    where l.queue = any(p_queues) and not q.paused
    order by (l.priority + 4 - v_first) % 4, random()
  loop
    continue when v_lane.is_empty and not v_moved;
    v_floor := v_lane.floor;
    v_from := case when v_ahead then v_lane.ahead else v_floor end;
    v_rang := false;
    v_most := p_n;
    if v_lane.max_running is not null then
      -- counted by one claim at a time; another one has what there is, or the next finds it
      continue when not pg_try_advisory_xact_lock(7512, hashtext(v_lane.queue));
      v_most := least(p_n, v_got + v_lane.max_running - leasehold.count_queue(v_lane.queue));
      continue when v_most <= v_got;
    end if;
    for v_round in 1..10 loop
      -- The rows stay locked until commit, so their places (ctid) hold. An array, because a join with the limited
      -- subquery may be planned so that the limit is applied anew for every row.
      if v_only is null then
        select
          array_agg(r.ctid), array_agg(r.job_id), max(r.pass), array_agg(r.tenant_id),
          bool_or(r.bound), bool_or(r.attempt < 0), bool_and(r.kind is not null)
        into v_rows, v_ids, v_top, v_owners, v_bound, v_bells, v_carried
        from (
          select r.ctid, r.job_id, r.pass, r.tenant_id, r.bound, r.attempt, r.kind from leasehold.ready r
          where r.lane = v_lane.lane and r.pass >= v_from and r.ctid <> all(v_left)
          order by r.pass
          limit v_most - v_got
          for update skip locked
        ) r;
      else
        select
          array_agg(r.ctid), array_agg(r.job_id), max(r.pass), array_agg(r.tenant_id),
          bool_or(r.bound), bool_or(r.attempt < 0), bool_and(r.kind is not null)
        into v_rows, v_ids, v_top, v_owners, v_bound, v_bells, v_carried
        from (
          select r.ctid, r.job_id, r.pass, r.tenant_id, r.bound, r.attempt, r.kind from leasehold.ready r
          where r.lane = v_lane.lane and r.ctid <> all(v_left)
            -- why a range: see newest_turns
            and (r.tenant_id, r.pass) >= (v_only, v_from) and (r.tenant_id, r.pass) <= (v_only, 9223372036854775807)
          order by r.tenant_id, r.pass nulls first
          limit v_most - v_got
          for update skip locked
        ) r;
      end if;
      v_too_few := v_from > v_floor and coalesce(cardinality(v_rows), 0) < v_most - v_got;
      if v_too_few or v_bound or v_bells then
        v_from := v_floor;
      end if;
      continue when v_rows is null and v_too_few;
      exit when v_rows is null;
      if v_only is null then
        perform leasehold.advance_lane_clock(v_lane.clock, v_top);  -- now, so that the next claim passes these over
      end if;
      v_moved := v_moved or v_bound or v_bells;
      if v_bells then
        v_rows := v_rows || leasehold.admit(v_rows, v_lane.lane, v_floor);
        v_rang := true;
        -- bells that are still there must wait: another transaction is at their group or gate
        v_left := v_left || array(select r.ctid from leasehold.ready r where r.ctid = any(v_rows) and r.attempt < 0);
        select array_agg(r.ctid), array_agg(r.job_id), max(r.pass), array_agg(r.tenant_id)
        into v_rows, v_ids, v_top, v_owners
        from leasehold.ready r where r.ctid = any(v_rows) and r.attempt >= 0;
        continue when v_rows is null;
      end if;

      v_tenants := array(select tenant_id from leasehold.tenant where tenant_id = any(v_owners) and may_run < v_slots);
      v_parked := 0;
      if v_tenants <> '{}' then
        select kept, parked into v_rows, v_parked from leasehold.park_over_limit(v_rows, v_owners, v_tenants);
      end if;

      if v_limited then
        select kept, busy, v_parked + parked into v_rows, v_busy, v_parked from leasehold.park_by_kind(v_rows);
        v_left := v_left || v_busy;
      end if;
      v_now := leasehold.now();  -- now that nothing is waited for: whoever reads the history sees no limit passed
      if v_bound then
        v_busy := leasehold.keep_order(v_rows);
        if v_busy <> '{}' then
          v_rows := array(select r from unnest(v_rows) r where r <> all(v_busy));
          v_left := v_left || v_busy;
        end if;
        select kept, busy, starts_at into v_rows, v_busy, v_now from leasehold.pass_gates(v_rows, v_lane.lane, v_floor);
        v_left := v_left || v_busy;
      end if;
      if v_carried then
        return query
          with granted as (
            delete from leasehold.ready r where r.ctid = any(v_rows)
            returning
              leasehold.new_token() as token, r.pass, r.job_id, r.tenant_id, r.attempt, r.max_attempts, r.events, r.bound,
              r.kind, r.payload, r.version, r.timeout_s, r.traceparent
          ),
          leased as (
            insert into leasehold.lease (
              token, job_id, tenant_id, lane, worker_id, attempt, max_attempts, events, started_seq, started_at, deadline, bound, xid
            )
            select
              token, job_id, tenant_id, v_lane.lane, p_worker, attempt + 1, max_attempts, events + 1, events + 1, v_now,
              v_now + make_interval(secs => timeout_s + 30), bound, (select pg_current_xact_id()::text::bigint)
            from granted
          )
          select
            token, job_id, tenant_id, kind, v_lane.queue, (attempt + 1)::smallint, max_attempts, payload, version, timeout_s, traceparent
          from granted order by pass;
      else
        v_ids := array(select job_id from unnest(v_ids) job_id order by job_id);
        return query
          with gone as (
            delete from leasehold.ready r where r.ctid = any(v_rows)
            returning r.lane, r.pass, r.job_id, r.tenant_id, r.attempt, r.max_attempts, r.events, r.bound
          ),
          granted as materialized (
            select
              leasehold.new_token() as token, g.*, j.kind, j.version, j.timeout_s, j.traceparent,
              coalesce(j.payload, leasehold.get_json(j.tenant_id, j.payload_ref)) as payload,
              coalesce(j.expires_at <= v_now, false) as expired
            -- The range of ids is known before the first row, so other days' partitions are not even opened. A lateral
            -- subquery with an offset, because in a join the planner would walk the whole range.
            from gone g cross join lateral (
              select * from leasehold.job j
              where j.job_id = g.job_id and j.job_id >= v_ids[1] and j.job_id <= v_ids[cardinality(v_ids)] offset 0
            ) j
          ),
          leased as (
            insert into leasehold.lease (
              token, job_id, tenant_id, lane, worker_id, attempt, max_attempts, events, started_seq, started_at, deadline, bound,
              xid
            )
            select
              token, job_id, tenant_id, lane, p_worker, attempt + 1, max_attempts, events + 1, events + 1, v_now,
              v_now + make_interval(secs => timeout_s + 30), bound, (select pg_current_xact_id()::text::bigint)
            from granted where not expired
          ),
          expired as (
            insert into leasehold.outcome (job_id, tenant_id, state, finished_at, error, seq)
            select job_id, tenant_id, 'canceled', v_now, '{"type": "Expired", "message": "not started before expires_at"}', events + 1
            from granted where expired
          )
          select
            token, job_id, tenant_id, kind, v_lane.queue, (attempt + 1)::smallint, max_attempts, payload, version, timeout_s, traceparent
          from granted where not expired order by pass;
      end if;
      get diagnostics v_granted = row_count;
      v_got := v_got + cardinality(v_rows);
      if v_bound then
        perform leasehold.ring_next(v_ids);
        if v_granted < cardinality(v_rows) then  -- some have expired
          v_ids := array(select job_id from leasehold.outcome where job_id = any(v_ids));
          perform leasehold.leave_groups(v_ids, '{}');
          perform leasehold.update_flow_of_ended_jobs(v_ids);
        end if;
      end if;
      -- where jobs were parked, the lane may have more behind them; where groups have moved, they may have rung
      exit when v_parked = 0 and not v_bound and not v_too_few or v_got >= v_most;
    end loop;
    if v_rang then
      perform leasehold.restore_lane_order(v_lane.lane, v_floor);
    end if;
    exit when v_got >= p_n;
  end loop;
end
$$;
