-- The open invitations of the current tenant, newest first (at most 1000).
-- for: api, operator
create or replace function leasehold.list_invitations() returns setof leasehold.invitation_view
language sql stable as $$ select * from leasehold.view_invitations(leasehold.current_tenant()) $$;
