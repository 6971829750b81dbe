-- Invite an address into the current tenant; again changes the role and begins the time anew. Logged.
create or replace function leasehold.create_invitation(p_email text, p_role text, p_seconds double precision)
returns leasehold.invitation_view
language sql security definer
set search_path = pg_catalog, pg_temp
as $$ select leasehold.put_invitation(leasehold.current_tenant(), p_email, p_role, p_seconds) $$;

revoke all on function leasehold.create_invitation(text, text, double precision) from public;
grant execute on function leasehold.create_invitation(text, text, double precision) to leasehold_api, leasehold_operator;
