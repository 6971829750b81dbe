-- Keep an invitation of a tenant, or to the installation's staff where the tenant is null. Logged.
-- internal
create or replace function leasehold.put_invitation(p_tenant uuid, p_email text, p_role text, p_seconds double precision)
returns leasehold.invitation_view
language plpgsql as $$
declare
  v_now        timestamptz := leasehold.now();
  v_invitation leasehold.invitation;
  v_most       integer;
begin
  if p_tenant is not null and not exists (select from leasehold.tenant where tenant_id = p_tenant) then
    raise exception 'there is no tenant %', p_tenant using errcode = 'LH404';
  end if;
  if coalesce(p_email, '') !~ '^[^@[:space:][:cntrl:]]+@[^@[:space:][:cntrl:]]+$' then
    raise exception 'an invitation is for one e-mail address' using errcode = 'LH400';
  end if;
  v_most := leasehold.take_quota(p_tenant, 'invitations');
  if (select count(*) from leasehold.invitation where tenant_id is not distinct from p_tenant and email <> lower(p_email)) >= v_most then
    perform leasehold.refuse_more('invitations', v_most);
  end if;
  insert into leasehold.invitation (invitation_id, tenant_id, email, role, invited_by, created_at, expires_at)
  values (
    leasehold.new_id(leasehold.micros(v_now)), p_tenant, lower(p_email), p_role,
    coalesce(nullif(current_setting('leasehold.actor', true), ''), session_user), v_now, v_now + make_interval(secs => p_seconds)
  )
  on conflict (tenant_id, email) do update
  set role = excluded.role, invited_by = excluded.invited_by, created_at = excluded.created_at, expires_at = excluded.expires_at
  returning * into v_invitation;
  perform leasehold.log_action(
    p_tenant, 'invitation.create', v_invitation.invitation_id::text, jsonb_build_object('email', v_invitation.email, 'role', p_role)
  );
  return (
    v_invitation.invitation_id, v_invitation.tenant_id, v_invitation.email, v_invitation.role, v_invitation.invited_by,
    v_invitation.created_at, v_invitation.expires_at
  );
exception when check_violation then
  raise exception 'an invitation has an address of at most 320 characters and makes its person owner, admin, member or viewer'
    using errcode = 'LH400';
end
$$;
