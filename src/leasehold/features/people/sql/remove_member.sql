-- Take a person out of the current tenant: their sessions have nothing there from their next request on. The last owner
-- stays. Logged.
-- for: api, operator
create or replace function leasehold.remove_member(p_person uuid) returns void
language plpgsql as $$
declare
  v_tenant uuid := leasehold.current_tenant();
begin
  perform leasehold.require_owner(v_tenant, p_person, null);
  delete from leasehold.membership where tenant_id = v_tenant and person_id = p_person;
  delete from leasehold.session_ticket t using leasehold.session s
  where t.session_id = s.session_id and s.person_id = p_person and t.tenant_id = v_tenant;
  perform leasehold.log_action(v_tenant, 'member.remove', p_person::text);
end
$$;
