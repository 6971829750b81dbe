-- Let a new tenant live in a cell; its id. The directory knows it first and receive_tenant makes it there, so that a name is
-- given once, and whoever is interrupted in between does both again.
create or replace function leasehold.place_tenant(p_name text, p_cell text) returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found record;
begin
  perform leasehold.find_cell(p_cell);
  lock table leasehold.resident in share row exclusive mode;  -- against create_tenant with the same name
  if exists (select from leasehold.tenant where name = p_name) then
    raise exception 'tenant % lives at home', p_name using errcode = 'LH409', hint = 'a tenant stays in its cell';
  end if;
  insert into leasehold.resident (tenant_id, name, cell, created_at)
  values (leasehold.new_id(leasehold.micros(leasehold.now())), p_name, p_cell, leasehold.now())
  on conflict (name) do nothing;
  if found then
    perform leasehold.log_action(null, 'tenant.place', p_name, jsonb_build_object('cell', p_cell));
  end if;
  select tenant_id, cell into v_found from leasehold.resident where name = p_name;
  if v_found.cell <> p_cell then
    raise exception 'tenant % lives in cell %', p_name, v_found.cell
      using errcode = 'LH409', hint = 'a tenant stays in its cell';
  end if;
  return v_found.tenant_id;
exception when check_violation then
  raise exception 'tenant name % is not valid', quote_literal(p_name)
    using errcode = 'LH400', hint = 'lower-case letters, digits, _ . - and at most 63 characters';
end
$$;

revoke all on function leasehold.place_tenant(text, text) from public;
grant execute on function leasehold.place_tenant(text, text) to leasehold_operator;
