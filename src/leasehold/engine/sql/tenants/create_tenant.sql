-- Make a tenant, or return the one that has this name.
-- for: operator
create or replace function leasehold.create_tenant(p_name text) returns uuid
language plpgsql as $$
declare
  v_tenant uuid;
begin
  insert into leasehold.tenant (tenant_id, name, created_at)
  values (leasehold.new_id(leasehold.micros(leasehold.now())), p_name, leasehold.now())
  on conflict (name) do nothing
  returning tenant_id into v_tenant;
  if v_tenant is null then
    select tenant_id into v_tenant from leasehold.tenant where name = p_name;
  else
    perform leasehold.log_action(v_tenant, 'tenant.create', p_name);
  end if;
  return v_tenant;
exception when check_violation then
  raise exception 'tenant name % is not valid', quote_literal(p_name)
    using errcode = 'LH400', hint = 'lower-case letters, digits, _ . - and at most 63 characters';
end
$$;
