-- What a gate knows at this moment: its newest row, and what attempts have said since. Whoever holds the gate's lock may
-- keep the answer; for everybody else it is a look.
--
--   closed     everybody passes at the rate; open after so many failures among so many starts
--   open       nobody passes until probe_at, a cool-down and up to a fifth more after the failure; then half-open
--   half-open  so many probes pass; a failure opens the gate again, success of all of them closes it; probes of which
--              nothing is heard for a cool-down after the last of them started are sent again
-- internal
-- settings: ordered
create or replace function leasehold.gate_state(p_terms leasehold.gate_terms, p_at timestamptz) returns leasehold.gate_now
language plpgsql stable as $$
declare
  v_gate   leasehold.gate_now;
  v_fatal  integer;
  v_broke  timestamptz;
  v_passed bigint;
begin
  select * into v_gate from leasehold.gate_now where gate_id = p_terms.gate_id order by gate_id desc, v desc limit 1;
  if v_gate.gate_id is null then
    v_gate := row(
      p_terms.gate_id, 0, p_terms.tenant_id, p_terms.gate, '-infinity', '-infinity', 'closed', '-infinity', null, 0, p_at, 0, p_at, 0
    );
  end if;
  v_gate.tat := least(v_gate.tat, v_gate.last_at + p_terms.every);  -- the rule may have been eased since
  if p_terms.failures is null then
    v_gate.state := 'closed';
    return v_gate;
  end if;

  v_fatal := case v_gate.state  -- so many failures open it
    when 'closed' then greatest(p_terms.failures, ceil(p_terms.ratio * (v_gate.starts + v_gate.before)))
    when 'half-open' then 1
  end;
  select at into v_broke from leasehold.gate_word
  where gate_id = p_terms.gate_id and failed and started_at >= v_gate.since
    and (v_gate.state <> 'closed' or started_at >= v_gate.before_at)
  order by at, word_id offset v_fatal - 1 limit 1;
  select count(*) into v_passed from leasehold.gate_word
  where gate_id = p_terms.gate_id and not failed and started_at >= v_gate.since;
  if v_fatal is not null and v_broke is not null then
    v_gate.state := 'open';
    v_gate.since := v_broke;
    -- the same for whoever looks, and another one each time
    v_gate.probe_at := v_broke + make_interval(
      secs => p_terms.cooldown_s * (1 + (hashint8(v_gate.gate_id # leasehold.micros(v_broke)) & 1023) / 5115.0)
    );
  elsif v_gate.state = 'half-open' and v_passed >= p_terms.probes then
    v_gate.state := 'closed';
    v_gate.since := p_at;
    v_gate.starts := 0;
    v_gate.window_at := p_at;
    v_gate.before := 0;
    v_gate.before_at := p_at;
  end if;
  if v_gate.state = 'open' and p_at >= v_gate.probe_at then
    v_gate.state := 'half-open';
    v_gate.since := p_at;
    v_gate.probes_left := 0;
  end if;
  if v_gate.state = 'half-open' and v_gate.probes_left = 0 and p_at >= v_gate.probe_at then
    v_gate.probes_left := p_terms.probes;
  elsif v_gate.state = 'closed' and p_at >= v_gate.window_at + make_interval(secs => p_terms.window_s) then
    v_gate.before := v_gate.starts;
    v_gate.before_at := v_gate.window_at;
    v_gate.starts := 0;
    v_gate.window_at := p_at;
  end if;
  return v_gate;
end
$$;
