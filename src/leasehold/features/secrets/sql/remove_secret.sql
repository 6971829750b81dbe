-- Remove a secret of the current tenant. Logged.
-- for: api, operator
create or replace function leasehold.remove_secret(p_name text) returns void
language plpgsql as $$
declare
  v_tenant uuid := leasehold.current_tenant();
begin
  delete from leasehold.secret where tenant_id = v_tenant and name = p_name and owner_id is null;
  if not found then
    raise exception 'there is no secret %', quote_nullable(p_name) using errcode = 'LH404', hint = 'leasehold secrets list';
  end if;
  perform leasehold.log_action(v_tenant, 'secret.remove', p_name);
end
$$;
