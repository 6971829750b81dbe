-- The open invitations to the installation's staff, newest first (at most 1000).
create or replace function leasehold.list_operator_invitations() returns setof leasehold.invitation_view
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$ select * from leasehold.view_invitations(null) $$;

revoke all on function leasehold.list_operator_invitations() from public;
grant execute on function leasehold.list_operator_invitations() to leasehold_operator;
