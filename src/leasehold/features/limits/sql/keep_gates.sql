-- Keep what these gates know now. Only for whoever holds their locks; whoever did not would fail on the primary key.
-- internal
-- settings: ordered
create or replace function leasehold.keep_gates(p_gates leasehold.gate_now[]) returns void
language plpgsql as $$
begin
  delete from leasehold.gate_now g using unnest(p_gates) n where g.gate_id = n.gate_id and g.v = n.v;
  insert into leasehold.gate_now
  select
    gate_id, v + 1, tenant_id, gate, tat, last_at, state, since, probe_at, probes_left, window_at, starts, before_at, before
  from unnest(p_gates);
  -- words of which nothing is learnt any more
  delete from leasehold.gate_word w using unnest(p_gates) n
  where w.gate_id = n.gate_id and w.started_at < greatest(n.since, n.before_at) and coalesce(w.held_until <= leasehold.now(), true);
end
$$;
