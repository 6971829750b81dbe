-- A gate as its tenant sees it; failed (what the breaker has before it) and waiting (jobs of this tenant) are counted up to
-- a bound. Of a class, and of a gate that all tenants share, no state is told.
-- internal
create or replace function leasehold.view_gate(p_tenant uuid, p_gate text, p_bound integer) returns leasehold.gate_view
language plpgsql stable
set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  v_terms leasehold.gate_terms := leasehold.terms_of(p_tenant, p_gate);
  v_gate  leasehold.gate_now;
  v_view  leasehold.gate_view;
begin
  v_view := row(
    p_gate, v_terms.tenant_id is null, v_terms.rule, v_terms.rate, v_terms.per_s, v_terms.burst, v_terms.failures, v_terms.ratio,
    v_terms.window_s, v_terms.cooldown_s, v_terms.probes, null, null, null, null
  );
  v_view.waiting := (
    select count(*) from (
      select from leasehold.gated where gate_id = v_terms.gate_id and tenant_id = p_tenant limit p_bound
    ) w
  );
  if v_view.shared or p_gate like '%:' then
    return v_view;
  end if;

  if p_gate like 'group:%' then
    v_terms.every := interval '1 day';  -- the gap is known to its jobs alone: at most this
  end if;
  v_gate := leasehold.gate_state(v_terms, leasehold.now());
  v_view.state := v_gate.state;
  v_view.next_at := nullif(leasehold.opens_at(v_gate, v_terms), '-infinity');
  v_view.failed := (
    select count(*) from (
      select from leasehold.gate_word
      where gate_id = v_terms.gate_id and failed and started_at >= greatest(v_gate.since, v_gate.before_at) limit p_bound
    ) w
  );
  return v_view;
end
$$;
