-- Invite an address to the installation's staff. Only the operator's login can. Logged.
-- for: operator
create or replace function leasehold.create_operator_invitation(p_email text, p_seconds double precision)
returns leasehold.invitation_view
language sql as $$ select leasehold.put_invitation(null, p_email, 'operator', p_seconds) $$;
