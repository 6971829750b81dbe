-- The open invitations of the current tenant, newest first (at most 1000).
create or replace function leasehold.list_invitations() returns setof leasehold.invitation_view
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$ select * from leasehold.view_invitations(leasehold.current_tenant()) $$;

revoke all on function leasehold.list_invitations() from public;
grant execute on function leasehold.list_invitations() to leasehold_api, leasehold_operator;
