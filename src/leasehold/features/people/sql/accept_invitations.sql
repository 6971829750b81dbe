-- Turn the invitations of an address into memberships of its person. True if one of them was to the installation's staff.
-- internal
create or replace function leasehold.accept_invitations(p_person uuid, p_email text) returns boolean
language plpgsql as $$
declare
  v_invitation leasehold.invitation;
  v_is_staff   boolean := false;
begin
  for v_invitation in
    delete from leasehold.invitation where email = lower(p_email) and expires_at > leasehold.now() returning *
  loop
    if v_invitation.tenant_id is null then
      update leasehold.person set is_operator = true where person_id = p_person;
      v_is_staff := true;
    else
      insert into leasehold.membership (tenant_id, person_id, role, created_at)
      values (v_invitation.tenant_id, p_person, v_invitation.role, leasehold.now())
      on conflict do nothing;
    end if;
    perform leasehold.log_action(
      v_invitation.tenant_id, 'member.join', p_person::text,
      jsonb_build_object('email', p_email, 'role', v_invitation.role, 'invited_by', v_invitation.invited_by)
    );
  end loop;
  return v_is_staff;
end
$$;
