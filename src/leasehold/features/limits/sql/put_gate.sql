-- Set the rule of a gate of the current tenant, or of a class of its gates; null removes it. See write_gate.
-- for: api, worker, operator
create or replace function leasehold.put_gate(p_gate text, p_rule jsonb) returns void
language plpgsql as $$
declare
  v_tenant uuid := leasehold.current_tenant();
begin
  if not exists (select from leasehold.tenant where tenant_id = v_tenant) then
    raise exception 'there is no tenant %', v_tenant using errcode = 'LH404';
  end if;
  perform leasehold.write_gate(v_tenant, p_gate, p_rule);
end
$$;
