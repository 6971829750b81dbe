-- Whose rows a caller sees: the tenant of the transaction; without one all of them (null), and that is for the operator
-- alone. The caller's role is asked for by its setting, because inside a function of the owner current_user is the owner.
create or replace function leasehold.seen_tenant() returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_caller name := coalesce(nullif(current_setting('role'), 'none'), session_user);
begin
  if coalesce(current_setting('leasehold.tenant', true), '') = '' and pg_has_role(v_caller, 'leasehold_operator', 'usage') then
    return null;
  end if;
  return leasehold.current_tenant();
end
$$;

revoke all on function leasehold.seen_tenant() from public;
