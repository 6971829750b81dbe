-- Put the bells whose moment has come into their lanes, for these queues (null: all); say how many, and in how many seconds
-- the next one is due (null: none waits). A bell that nobody can answer yet stands in its lane like a job.
-- for: worker
create or replace function leasehold.ring_gates(p_queues text[], out rang integer, out next_s double precision)
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_indexscan = on set enable_nestloop = on set jit = off
as $$
declare
  v_now   timestamptz := leasehold.now();
  v_lanes integer[];
  v_rows  tid[];
begin
  rang := 0;
  if not exists (select from leasehold.gate_bell) then
    return;  -- asked often
  end if;
  v_lanes := array(select lane from leasehold.lane where p_queues is null or queue = any(p_queues));
  v_rows := array(
    select ctid from leasehold.gate_bell where at <= v_now and lane = any(v_lanes) order by at limit 1000 for update skip locked
  );
  if v_rows <> '{}' then
    perform pg_current_xact_id();  -- before the clocks are read below: see enqueue
    with due as (
      delete from leasehold.gate_bell where ctid = any(v_rows) returning gate_id, lane, tenant_id
    )
    insert into leasehold.ready (lane, pass, job_id, tenant_id, attempt, max_attempts, events, bound)
    select lane, leasehold.lane_clock(lane) + 1, leasehold.bell(gate_id), tenant_id, -2, 0, 0, true from due;
    get diagnostics rang = row_count;
  end if;
  select greatest(extract(epoch from at - v_now), 0) into next_s
  from leasehold.gate_bell where lane = any(v_lanes) order by at limit 1;
end
$$;
