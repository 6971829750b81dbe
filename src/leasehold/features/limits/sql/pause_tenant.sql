-- Pause a tenant (none of its jobs starts; it may go on asking for them) or let it go on. Logged.
-- for: operator
create or replace function leasehold.pause_tenant(p_tenant uuid, p_paused boolean) returns void
language plpgsql as $$
begin
  update leasehold.tenant set paused = p_paused where tenant_id = p_tenant;
  if not found then
    raise exception 'there is no tenant %', p_tenant using errcode = 'LH404';
  end if;
  perform leasehold.log_action(p_tenant, case when p_paused then 'tenant.pause' else 'tenant.resume' end, p_tenant::text);
end
$$;
