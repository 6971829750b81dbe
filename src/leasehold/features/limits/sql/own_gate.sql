-- The terms of a gate of the current tenant; that of a class or of all tenants together is not its own.
-- internal
create or replace function leasehold.own_gate(p_gate text) returns leasehold.gate_terms
language plpgsql stable as $$
declare
  v_tenant uuid := leasehold.current_tenant();
  v_terms  leasehold.gate_terms;
begin
  if not exists (select from leasehold.tenant where tenant_id = v_tenant) then
    raise exception 'there is no tenant %', v_tenant using errcode = 'LH404';
  end if;
  if p_gate not like 'group:_%' then
    perform leasehold.check_gate(to_jsonb(p_gate));
  end if;
  v_terms := leasehold.terms_of(v_tenant, p_gate);
  if v_terms.tenant_id is null then
    raise exception 'gate % belongs to all tenants together', quote_literal(p_gate) using errcode = 'LH409', hint = 'the operator sets and resets it';
  end if;
  return v_terms;
end
$$;
