-- Of these locked ready rows of a lane, kept may start now, at the moment that comes back as starts_at: it is the one that
-- their gates were asked for, so it must be the one in the history. Busy are rows at whose gate another transaction is:
-- they stay for the next claim. The rest waits at its gates.
--
-- Exact, because slots are taken under the gates' locks, by starts alone, at the clock after the locks. The locks are only
-- tried, so nobody waits in a circle. Jobs without a gate pass without a look.
-- internal
-- settings: hot
create or replace function leasehold.pass_gates(
  p_rows tid[], p_lane integer, p_floor bigint, out kept tid[], out busy tid[], out starts_at timestamptz
)
language plpgsql as $$
declare
  v_terms  leasehold.gate_terms[];
  v_gates  leasehold.gate_now[] := '{}';
  v_ids    bigint[];
  v_mine   bigint[];
  v_row    record;
  v_gate   bigint;
  v_last   record;
  v_moved  tid[] := '{}';
  v_jobs   uuid[] := '{}';
  v_to     bigint[] := '{}';
  v_when   timestamptz[] := '{}';
  v_spare  bigint[] := '{}'; -- gates with a slot that the one who came for it did not take
begin
  kept := '{}';
  busy := '{}';
  v_terms := leasehold.gates_of_rows(p_rows);
  if v_terms = '{}' then
    kept := p_rows;
    starts_at := leasehold.now();
    return;
  end if;
  v_ids := array(select gate_id from unnest(v_terms) with ordinality t order by ordinality);
  v_mine := array(select g from unnest(v_ids) g where pg_try_advisory_xact_lock(7508, hashint8(g)));
  starts_at := leasehold.now();
  for v_i in 1..cardinality(v_ids) loop  -- new statements, so that they see what was committed before the locks were ours
    v_gates[v_i] := leasehold.gate_state(v_terms[v_i], starts_at);
  end loop;

  for v_row in
    select r.ctid as spot, r.job_id, r.tenant_id, asked.gates, asked.expired
    from leasehold.ready r left join lateral (
      select array_agg(g.gate_id order by g.gate_id) as gates, bool_or(j.expires_at <= starts_at) as expired
      from leasehold.job j cross join lateral leasehold.gates_of(j) g where r.bound and j.job_id = r.job_id
    ) asked on true
    where r.ctid = any(p_rows) order by r.pass, r.job_id
  loop
    if v_row.gates is null or v_row.expired then  -- an expired one only ends, and leaves its slot to the next
      kept := kept || v_row.spot;
      v_spare := v_spare || v_row.gates;
      continue;
    elsif not v_row.gates <@ v_mine then
      busy := busy || v_row.spot;
      continue;
    end if;
    v_last := leasehold.last_gate_to_open(
      v_row.job_id, v_row.tenant_id, v_row.gates, v_ids, v_gates, v_terms, starts_at, p_lane, p_floor, p_rows
    );
    if v_last.until > starts_at then
      v_moved := v_moved || v_row.spot;
      v_jobs := v_jobs || v_row.job_id;
      v_to := v_to || v_last.gate;
      v_when := v_when || v_last.until;
      v_spare := v_spare || v_last.open;
      continue;
    end if;
    kept := kept || v_row.spot;
    foreach v_gate in array v_row.gates loop
      v_gates[array_position(v_ids, v_gate)] := leasehold.take_slot(
        v_gates[array_position(v_ids, v_gate)], v_terms[array_position(v_ids, v_gate)], starts_at, 1
      );
    end loop;
  end loop;

  perform leasehold.keep_gates(array(select g from unnest(v_gates) g where g.gate_id = any(v_mine) order by g.gate_id));
  if v_spare <> '{}' then
    perform leasehold.hurry_gates(v_spare);
  end if;
  if v_moved <> '{}' then
    perform leasehold.wait_at_gates(v_moved, v_jobs, v_to, v_when);
    perform leasehold.follow_to_gates(p_lane, p_floor, v_jobs, p_rows);
  end if;
end
$$;
