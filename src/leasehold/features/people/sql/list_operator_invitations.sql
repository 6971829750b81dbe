-- The open invitations to the installation's staff, newest first (at most 1000).
-- for: operator
create or replace function leasehold.list_operator_invitations() returns setof leasehold.invitation_view
language sql stable as $$ select * from leasehold.view_invitations(null) $$;
