-- What a person is in the current tenant from now on. The last owner stays one. Logged.
-- for: api, operator
create or replace function leasehold.set_member(p_person uuid, p_role text) returns void
language plpgsql as $$
declare
  v_tenant uuid := leasehold.current_tenant();
begin
  perform leasehold.require_owner(v_tenant, p_person, p_role);
  update leasehold.membership set role = p_role where tenant_id = v_tenant and person_id = p_person;
  perform leasehold.log_action(v_tenant, 'member.role', p_person::text, jsonb_build_object('role', p_role));
exception when check_violation then
  raise exception 'a member is owner, admin, member or viewer' using errcode = 'LH400';
end
$$;
