-- Whose rows a caller sees: the tenant of the transaction; without one all of them (null), and that is for the operator
-- alone. The caller's role is asked for by its setting, because inside a function of the owner current_user is the owner.
-- internal
create or replace function leasehold.tenant_filter() returns uuid
language plpgsql stable as $$
declare
  v_caller name := coalesce(nullif(current_setting('role'), 'none'), session_user);
begin
  if coalesce(current_setting('leasehold.tenant', true), '') = '' and pg_has_role(v_caller, 'leasehold_operator', 'usage') then
    return null;
  end if;
  return leasehold.current_tenant();
end
$$;
