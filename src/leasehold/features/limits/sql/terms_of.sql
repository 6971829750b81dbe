-- The rule that holds for a gate. The operator's come first, for a tenant must not get around them by one of its own; the
-- rule of the gate comes before that of its class. Without any, the terms ask for nothing.
-- internal
create or replace function leasehold.terms_of(p_tenant uuid, p_gate text) returns leasehold.gate_terms
language sql stable as $$
  select
    leasehold.gate_id(o.owner, p_gate), o.owner, p_gate, r.gate, r.rate, r.per_s, r.every, r.burst,
    r.failures, r.ratio, r.window_s, r.cooldown_s, r.probes
  from (values (true)) one(one) left join lateral (
    select * from leasehold.gate_rule r
    where (r.tenant_id is null or r.tenant_id = p_tenant)
      and r.gate in (p_gate, case when p_gate like '%:%' then split_part(p_gate, ':', 1) || ':' end)
    order by r.tenant_id is not null, r.gate <> p_gate limit 1
  ) r on true
  cross join lateral (select case when r.gate is null then p_tenant else r.tenant_id end as owner) o
$$;
