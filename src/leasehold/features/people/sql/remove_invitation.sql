-- Take back an invitation of the current tenant. Logged.
-- for: api, operator
create or replace function leasehold.remove_invitation(p_invitation uuid) returns void
language sql as $$ select leasehold.end_invitation(leasehold.current_tenant(), p_invitation) $$;
