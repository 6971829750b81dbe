-- The open invitations of a tenant, or to the installation's staff where the tenant is null, newest first.
-- internal
create or replace function leasehold.view_invitations(p_tenant uuid) returns setof leasehold.invitation_view
language sql stable as $$
  select invitation_id, tenant_id, email, role, invited_by, created_at, expires_at
  from leasehold.invitation where tenant_id is not distinct from p_tenant and expires_at > leasehold.now()
  order by created_at desc, invitation_id
  limit 1000
$$;
