-- Take back an invitation of a tenant, or to the installation's staff where the tenant is null. Logged.
-- internal
create or replace function leasehold.end_invitation(p_tenant uuid, p_invitation uuid) returns void
language plpgsql as $$
begin
  delete from leasehold.invitation where invitation_id = p_invitation and tenant_id is not distinct from p_tenant;
  if not found then
    raise exception 'there is no invitation %', p_invitation using errcode = 'LH404';
  end if;
  perform leasehold.log_action(p_tenant, 'invitation.remove', p_invitation::text);
end
$$;
