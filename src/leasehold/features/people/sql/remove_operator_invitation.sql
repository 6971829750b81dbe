-- Take back an invitation to the installation's staff. Logged.
-- for: operator
create or replace function leasehold.remove_operator_invitation(p_invitation uuid) returns void
language sql as $$ select leasehold.end_invitation(null, p_invitation) $$;
