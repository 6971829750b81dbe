-- Set the rule of a gate, or of a class of gates, in the place of the one that it has; null removes it. Logged.
--
-- A rule is an object of numbers: rate and per_s (so many starts in so many seconds; else any number), burst, failures (else
-- there is no breaker), ratio, window_s, cooldown_s, probes.
-- internal
create or replace function leasehold.write_gate(p_tenant uuid, p_gate text, p_rule jsonb) returns void
language plpgsql as $$
declare
  c_defaults constant jsonb := '{"per_s": 1, "burst": 1, "ratio": 0.5, "window_s": 60, "cooldown_s": 30, "probes": 1}';
  c_known    constant text[] := array['rate', 'per_s', 'burst', 'failures', 'ratio', 'window_s', 'cooldown_s', 'probes'];
  v_member   text;
  v_rule     leasehold.gate_rule;
  v_most     integer;
begin
  perform leasehold.check_gate(to_jsonb(regexp_replace(p_gate, '^([^:]+):$', '\1')));
  delete from leasehold.gate_rule where gate = p_gate and tenant_id is not distinct from p_tenant;
  if p_rule is null and not found then
    raise exception 'gate % has no rule', quote_literal(p_gate) using errcode = 'LH404', hint = 'leasehold gates list';
  end if;
  if p_rule is not null then
    select m into v_member from jsonb_each(p_rule) r(m, value) where m <> all(c_known) or jsonb_typeof(value) not in ('number', 'null') limit 1;
    if found then
      raise exception 'a rule of a gate has no number %', quote_literal(v_member)
        using errcode = 'LH400', hint = 'it may have ' || array_to_string(c_known, ', ');
    end if;
    v_rule := jsonb_populate_record(null::leasehold.gate_rule, c_defaults || jsonb_strip_nulls(p_rule));
    if v_rule.rate is null and v_rule.failures is null then
      raise exception 'a rule of a gate has a rate, or failures, or both' using errcode = 'LH400';
    elsif v_rule.rate not between 1 and 1000000 or v_rule.per_s not between 0.001 and 2592000 or v_rule.burst not between 1 and 1000000 then
      raise exception 'rate and burst are from 1 to 1000000, per_s is from 0.001 to thirty days' using errcode = 'LH400';
    elsif v_rule.failures not between 1 and 100000 or v_rule.ratio not between 0 and 1 or v_rule.probes not between 1 and 1000 then
      raise exception 'failures are from 1 to 100000, ratio is from 0 to 1, probes are from 1 to 1000' using errcode = 'LH400';
    elsif v_rule.window_s not between 1 and 86400 or v_rule.cooldown_s not between 0.1 and 86400 then
      raise exception 'window_s is from 1 to one day, cooldown_s from 0.1 to one day' using errcode = 'LH400';
    end if;
    v_most := leasehold.take_quota(p_tenant, 'gates');
    if (select count(*) from leasehold.gate_rule where tenant_id is not distinct from p_tenant) >= v_most then
      perform leasehold.refuse_more('gates', v_most);
    end if;
    v_rule.gate := p_gate;
    v_rule.tenant_id := p_tenant;
    v_rule.updated_at := leasehold.now();
    if v_rule.rate is null then
      v_rule.per_s := null;
    end if;
    -- rounded up: a slot too many would be a start too many
    v_rule.every := make_interval(secs => ceil(v_rule.per_s::numeric * 1000000 / v_rule.rate) / 1000000.0);
    insert into leasehold.gate_rule select v_rule.*;
  end if;
  perform leasehold.log_action(p_tenant, case when p_rule is null then 'gate.remove' else 'gate.set' end, p_gate, p_rule);
  perform leasehold.hurry_gates(array(
    select distinct gate_id from leasehold.gate_bell where p_tenant is null or tenant_id = p_tenant
  ));
end
$$;
