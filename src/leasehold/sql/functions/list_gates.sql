-- The gates of the current tenant by name, from p_after on, or the one that is asked for: those that have let a job through,
-- and the rules, also those of classes and those that all tenants share, of which no state is told. failed (what the breaker
-- has before it) and waiting (jobs of this tenant) are counted up to 1000.
create or replace function leasehold.list_gates(p_gate text default null, p_after text default '', p_limit integer default 1000)
returns setof leasehold.gate_view
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant uuid := leasehold.current_tenant();
  v_now    timestamptz := leasehold.now();
  v_name   text;
  v_terms  leasehold.gate_terms;
  v_gate   leasehold.gate_now;
  v_view   leasehold.gate_view;
begin
  for v_name in
    select n.gate from (
      select gate from leasehold.gate_rule where tenant_id = v_tenant or tenant_id is null
      union select gate from leasehold.gate_now where tenant_id = v_tenant
      union select p_gate where p_gate is not null
    ) n
    where n.gate > p_after collate "C" and (p_gate is null or n.gate = p_gate)
    order by n.gate collate "C" limit least(p_limit, 1000)
  loop
    v_terms := leasehold.terms_of(v_tenant, v_name);
    v_view := row(
      v_name, v_terms.tenant_id is null, v_terms.rule, v_terms.rate, v_terms.per_s, v_terms.burst, v_terms.failures, v_terms.ratio,
      v_terms.window_s, v_terms.cooldown_s, v_terms.probes, null, null, null, null
    );
    v_view.waiting := (
      select count(*) from (
        select from leasehold.gated where gate_id = v_terms.gate_id and tenant_id = v_tenant limit 1000
      ) w
    );
    if not v_view.shared and v_name not like '%:' then
      if v_name like 'group:%' then
        v_terms.every := interval '1 day';  -- the gap is known to its jobs alone: at most this
      end if;
      v_gate := leasehold.gate_state(v_terms, v_now);
      v_view.state := v_gate.state;
      v_view.next_at := nullif(leasehold.opens_at(v_gate, v_terms), '-infinity');
      v_view.failed := (
        select count(*) from (
          select from leasehold.gate_word
          where gate_id = v_terms.gate_id and failed and started_at >= greatest(v_gate.since, v_gate.before_at) limit 1000
        ) w
      );
    end if;
    return next v_view;
  end loop;
end
$$;

revoke all on function leasehold.list_gates(text, text, integer) from public;
grant execute on function leasehold.list_gates(text, text, integer) to leasehold_api, leasehold_worker, leasehold_operator, leasehold_readonly;
