-- The tenant of this transaction. Every function that a tenant can reach asks here, never an argument.
create or replace function leasehold.current_tenant() returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant uuid := nullif(current_setting('leasehold.tenant', true), '')::uuid;
begin
  if v_tenant is null then
    raise exception 'no tenant is set for this transaction'
      using errcode = 'LH401', hint = 'select set_config(''leasehold.tenant'', <tenant id>, true) first';
  end if;
  return v_tenant;
end
$$;

revoke all on function leasehold.current_tenant() from public;
