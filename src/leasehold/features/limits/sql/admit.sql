-- Answer the bells among these locked ready rows of a lane: the first jobs of their groups, as many as have room, take
-- places and stand where the bells stood. Returns those of this lane, no more than there were bells. Bells of gates are
-- answered by open_gates, at p_pass. A bell stays while another transaction is at its group or gate.
--
-- The locks are only tried, so nobody waits in a circle. They are held to the end of the transaction: until then nobody
-- else can tell how many places are taken, and nobody overtakes. For the same reason a group lets nobody in while one that
-- has a place has not started: it waits for its tenant, at a gate, or in another lane, and rings when it starts.
-- internal
-- settings: hot
create or replace function leasehold.admit(p_rows tid[], p_lane integer, p_pass bigint) returns tid[]
language plpgsql as $$
declare
  v_bells  tid[];
  v_groups bigint[];
  v_passes bigint[];
  v_mine   bigint[];
  v_let_in tid[];
begin
  select array_agg(r.ctid), array_agg(leasehold.group_of(r.job_id)), array_agg(r.pass) into v_bells, v_groups, v_passes
  from leasehold.ready r where r.ctid = any(p_rows) and r.attempt = -1;
  v_mine := array(
    select g from (select distinct g from unnest(v_groups) g) d
    where pg_try_advisory_xact_lock(7507, hashint8(g))
  );
  delete from leasehold.ready r
  where r.ctid = any(array(select b from unnest(v_bells, v_groups) u(b, g) where g = any(v_mine)));

  -- a new statement, so that it sees what was committed before the locks were ours
  with room as materialized (
    select b.g, b.bells, b.turn, first.group_limit - taken.n as places
    from (
      select g, count(*) as bells, min(pass) as turn from unnest(v_groups, v_passes) u(g, pass) where g = any(v_mine) group by g
    ) b
    cross join lateral (
      select count(*) as n, coalesce(bool_or(
        exists (select from leasehold.ready r where r.job_id = p.job_id and r.attempt = 0 and not r.placed)  -- see the table ready
        or exists (select from leasehold.parked k where k.job_id = p.job_id and k.attempt = 0)
        or exists (select from leasehold.gated d where d.job_id = p.job_id and d.attempt = 0)
      ), false) as not_started
      from leasehold.place p where p.group_id = b.g
    ) taken
    cross join lateral (
      select group_limit from leasehold.blocked where group_id = b.g order by group_id, seq limit 1
    ) first
    where not taken.not_started and first.group_limit > taken.n
  ),
  line as materialized (
    select h.*, r.bells, r.turn, row_number() over (partition by r.g order by h.seq) as nth,
      coalesce(bool_or(h.lane <> p_lane or h.gated) over (partition by r.g order by h.seq rows between unbounded preceding and 1 preceding), false)
        as behind  -- one that goes to another lane or to a gate: whoever follows waits until it has started
    from room r cross join lateral (
      select ctid as spot, * from leasehold.blocked
      where group_id = r.g order by group_id, seq limit least(r.places, r.bells + 1)
    ) h
  ),
  head as materialized (select * from line where nth <= bells and not behind),
  gone as (delete from leasehold.blocked b using head h where b.ctid = h.spot returning b.*, h.turn),
  placed as (
    insert into leasehold.place (job_id, group_id, tenant_id, lane, group_limit, group_hold)
    select job_id, group_id, tenant_id, lane, group_limit, group_hold from gone
  ),
  stand as (
    insert into leasehold.ready (lane, pass, job_id, tenant_id, attempt, max_attempts, events, bound)
    select
      lane, case when lane = p_lane then turn else leasehold.lane_clock(lane) + 1 end,
      job_id, tenant_id, attempt, max_attempts, events, true
    from (select * from gone order by group_id, seq) g
    union all  -- one that was canceled while we waited for its row: ring for who follows
    select lane, leasehold.lane_clock(lane) + 1, leasehold.bell(group_id), tenant_id, -1, 0, 0, true
    from head where job_id not in (select job_id from gone)
    union all  -- more have room than had bells here: ring for the next
    select lane, greatest(leasehold.lane_clock(lane) + 1, pass), leasehold.bell(group_id), tenant_id, -1, 0, 0, true
    from line where nth > bells and not behind
    returning ctid, lane, attempt
  )
  select array_agg(ctid) into v_let_in from stand where lane = p_lane and attempt >= 0;
  perform leasehold.open_gates(p_rows, p_lane, p_pass);
  return v_let_in;
end
$$;
