-- Take a person out of the current tenant: their sessions have nothing there from their next request on. The last owner
-- stays. Logged.
create or replace function leasehold.remove_member(p_person uuid) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant uuid := leasehold.current_tenant();
begin
  perform leasehold.keep_an_owner(v_tenant, p_person, null);
  delete from leasehold.membership where tenant_id = v_tenant and person_id = p_person;
  delete from leasehold.ticket t using leasehold.session s
  where t.session_id = s.session_id and s.person_id = p_person and t.tenant_id = v_tenant;
  perform leasehold.log_action(v_tenant, 'member.remove', p_person::text);
end
$$;

revoke all on function leasehold.remove_member(uuid) from public;
grant execute on function leasehold.remove_member(uuid) to leasehold_api, leasehold_operator;
