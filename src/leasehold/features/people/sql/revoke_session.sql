-- Revoke a session of a person, or of the operator where the person is null; every process refuses it from its next
-- request on. False if there is no such session of theirs, or not any more. Logged.
-- for: api, operator
create or replace function leasehold.revoke_session(p_session_id text, p_person uuid) returns boolean
language plpgsql as $$
declare
  v_tenant uuid;
begin
  update leasehold.session set revoked_at = leasehold.now()
  where session_id = p_session_id and person_id is not distinct from p_person and revoked_at is null
  returning tenant_id into v_tenant;
  if found then
    delete from leasehold.session_ticket where session_id = p_session_id;
    perform leasehold.log_action(v_tenant, 'session.revoke', p_session_id);
    return true;
  end if;
  return false;
end
$$;
