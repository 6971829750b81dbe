-- How many jobs may pass a gate at this moment, up to a hundred.
-- internal
create or replace function leasehold.free_slots(p_gate leasehold.gate_now, p_terms leasehold.gate_terms, p_at timestamptz)
returns integer
language sql stable as $$
  select case when leasehold.opens_at(p_gate, p_terms) > p_at then 0 else least(
    100,
    case when p_gate.state = 'half-open' then p_gate.probes_left end,
    case when p_terms.every is not null then
      1 + floor(
        extract(epoch from p_at - greatest(p_gate.tat, p_at - (p_terms.burst - 1) * p_terms.every))
        / extract(epoch from p_terms.every)
      )
    end
  )::integer end
$$;
