-- The tenant of this transaction. Every function that a tenant can reach asks here, never an argument.
-- internal
create or replace function leasehold.current_tenant() returns uuid
language plpgsql stable as $$
declare
  v_tenant uuid := nullif(current_setting('leasehold.tenant', true), '')::uuid;
begin
  if v_tenant is null then
    raise exception 'no tenant is set for this transaction'
      using errcode = 'LH401', hint = 'select set_config(''leasehold.tenant'', <tenant id>, true) first';
  end if;
  -- Most logins may be of any tenant, and it takes less to say so here.
  if not pg_has_role(session_user, 'leasehold_api', 'member') and not pg_has_role(session_user, 'leasehold_worker', 'member')
    and not leasehold.may_read(v_tenant)
  then
    raise exception 'this login may not read this tenant'
      using errcode = 'LH401', hint = format('an operator may let it: select leasehold.grant_reader(%L, <tenant id>)', session_user);
  end if;
  return v_tenant;
end
$$;
