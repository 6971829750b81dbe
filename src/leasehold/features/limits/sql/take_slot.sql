-- The gate after p_n starts at this moment.
-- internal
create or replace function leasehold.take_slot(
  p_gate leasehold.gate_now, p_terms leasehold.gate_terms, p_at timestamptz, p_n integer
) returns leasehold.gate_now
language plpgsql immutable as $$
begin
  p_gate.last_at := p_at;
  if p_terms.every is not null then
    p_gate.tat := greatest(p_gate.tat, p_at - (p_terms.burst - 1) * p_terms.every) + p_n * p_terms.every;
  end if;
  if p_terms.failures is not null then
    p_gate.starts := p_gate.starts + p_n;
  end if;
  if p_gate.state = 'half-open' and p_n > 0 then
    p_gate.probes_left := p_gate.probes_left - p_n;
    p_gate.probe_at := p_at + make_interval(secs => p_terms.cooldown_s);
  end if;
  return p_gate;
end
$$;
