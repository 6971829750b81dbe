-- Answer the bells of gates among these locked ready rows of a lane: the first of their lines, as many as may pass now,
-- stand at p_pass, where this claim takes them next; it is pass_gates that takes their slots. While a line has more, it has
-- a bell for the moment after. Bells stay where they are while another transaction is at their gate.
-- internal
create or replace function leasehold.open_gates(p_rows tid[], p_lane integer, p_pass bigint) returns void
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_indexscan = on set enable_nestloop = on set jit = off
as $$
declare
  v_bell  record;
  v_now   timestamptz;
  v_terms leasehold.gate_terms;
  v_gate  leasehold.gate_now;
  v_n     integer;
  v_next  timestamptz;
begin
  for v_bell in
    select r.ctid as spot, r.tenant_id, leasehold.group_of(r.job_id) as gate_id
    from leasehold.ready r where r.ctid = any(p_rows) and r.attempt = -2
  loop
    continue when not pg_try_advisory_xact_lock(7508, hashint8(v_bell.gate_id));
    delete from leasehold.ready where ctid = v_bell.spot;
    v_now := leasehold.now();
    select g.* into v_terms  -- as they are for the first of the line
    from (
      select job_id from leasehold.gated
      where gate_id = v_bell.gate_id and lane = p_lane and tenant_id = v_bell.tenant_id order by job_id limit 1
    ) d
    join leasehold.job j on j.job_id = d.job_id
    cross join lateral leasehold.gates_of(j) g where g.gate_id = v_bell.gate_id;
    if found then
      v_gate := leasehold.gate_state(v_terms, v_now);
      v_n := leasehold.free_slots(v_gate, v_terms, v_now);
    else  -- the rule is gone, or another one holds: let them ask again
      v_n := 100;
    end if;

    with head as materialized (
      select ctid as spot from leasehold.gated
      where gate_id = v_bell.gate_id and lane = p_lane and tenant_id = v_bell.tenant_id order by job_id limit v_n
    ),
    gone as (  -- without what was canceled while we waited for its row
      delete from leasehold.gated where ctid = any(array(select spot from head)) returning job_id, attempt, max_attempts, events
    )
    insert into leasehold.ready (lane, pass, job_id, tenant_id, attempt, max_attempts, events, bound)
    select p_lane, p_pass, job_id, v_bell.tenant_id, attempt, max_attempts, events, true from (select * from gone order by job_id) g;
    get diagnostics v_n = row_count;
    v_next := case when v_terms is null then v_now
      else leasehold.opens_at(leasehold.take_slot(v_gate, v_terms, v_now, v_n), v_terms) end;
    insert into leasehold.gate_bell as b (gate_id, lane, tenant_id, at)
    select v_bell.gate_id, p_lane, v_bell.tenant_id, greatest(v_next, v_now)
    where exists (
      select from leasehold.gated where gate_id = v_bell.gate_id and lane = p_lane and tenant_id = v_bell.tenant_id
    )
    on conflict (gate_id, lane, tenant_id) do update set at = excluded.at where excluded.at < b.at;
  end loop;
end
$$;
