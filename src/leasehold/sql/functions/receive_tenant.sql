-- Make the tenant that the directory placed in this cell, under the id that it has there; once.
create or replace function leasehold.receive_tenant(p_tenant uuid, p_name text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into leasehold.tenant (tenant_id, name, created_at) values (p_tenant, p_name, leasehold.now())
  on conflict (tenant_id) do nothing;
  if found then
    perform leasehold.log_action(p_tenant, 'tenant.create', p_name);
  end if;
end
$$;

revoke all on function leasehold.receive_tenant(uuid, text) from public;
grant execute on function leasehold.receive_tenant(uuid, text) to leasehold_operator;
