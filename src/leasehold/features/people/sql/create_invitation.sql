-- Invite an address into the current tenant; again changes the role and begins the time anew. Logged.
-- for: api, operator
create or replace function leasehold.create_invitation(p_email text, p_role text, p_seconds double precision)
returns leasehold.invitation_view
language sql as $$ select leasehold.put_invitation(leasehold.current_tenant(), p_email, p_role, p_seconds) $$;
