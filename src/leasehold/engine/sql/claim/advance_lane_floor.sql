-- The leader's walk over lanes, ten times a second and more often while jobs are taken. For each lane: rows that became
-- visible behind the clock (a transaction that committed late) move up to it, and the floor of the walk before is published
-- for claims to start at.
--
-- p_from: where each walk starts; p_publish: the floor to publish, null for none. Returns for each lane the snapshot of
-- the walk and the lowest pass that may be published next time. See leasehold.worker.leader for the rest of the proof.
-- for: worker
create or replace function leasehold.advance_lane_floor(p_lanes integer[], p_from bigint[], p_publish bigint[])
returns table (lane integer, snapshot text, floor bigint, moved integer)
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_hashjoin = off
set enable_mergejoin = off set enable_indexscan = on set jit = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_lane   record;
  v_clock  bigint;
  v_to     bigint;
  v_lowest bigint;
  v_rows   tid[];
begin
  for v_lane in
    select l.lane, l.clock, l.floor, u.start, u.publish
    from unnest(p_lanes, p_from, p_publish) u(lane, start, publish) join leasehold.lane l on l.lane = u.lane
  loop
    v_clock := pg_sequence_last_value(v_lane.clock);
    snapshot := pg_current_snapshot()::text;  -- the clock first, the snapshot second, the rows last
    v_lowest := null;
    select r.pass into v_lowest from leasehold.ready r where r.lane = v_lane.lane and r.pass >= v_lane.start order by r.pass limit 1;

    select array_agg(r.ctid) into v_rows
    from (
      select r.ctid from leasehold.ready r
      where r.lane = v_lane.lane and r.pass >= v_lowest and r.pass < v_clock
      order by r.pass limit 5000 for update skip locked
    ) r;
    moved := 0;
    if v_rows is not null then
      -- Locking them took a transaction id; only now the clock that they are placed behind: see enqueue. Ten times a
      -- second there is nothing to move, and then no transaction id is taken.
      v_to := pg_sequence_last_value(v_lane.clock) + 1;
      with gone as (
        delete from leasehold.ready r where r.ctid = any(v_rows)
        returning r.lane, r.job_id, r.tenant_id, r.attempt, r.max_attempts, r.events, r.bound
      )
      insert into leasehold.ready (lane, pass, job_id, tenant_id, attempt, max_attempts, events, bound)
      select g.lane, v_to, g.job_id, g.tenant_id, g.attempt, g.max_attempts, g.events, g.bound from gone g;
      get diagnostics moved = row_count;
    end if;

    lane := v_lane.lane;
    floor := least(v_lowest, v_clock);
    if least(v_lane.publish, floor) <> pg_sequence_last_value(v_lane.floor) and v_lane.publish is not null then
      perform setval(v_lane.floor, least(v_lane.publish, floor));
    end if;
    return next;
  end loop;
end
$$;
