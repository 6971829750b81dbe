-- Give a session that renews tokens its next secret: true if p_old was its current one. A secret that was used before has
-- been copied, by whom nobody can tell: the session ends. Logged.
-- for: api
create or replace function leasehold.renew_session(p_session_id text, p_old bytea, p_new bytea, p_pepper_id text) returns boolean
language plpgsql as $$
declare
  c_kept    constant integer := 100;  -- of the newest spent ones
  v_session leasehold.session;
begin
  update leasehold.session
  set digest = p_new, spent = (p_old || spent)[:c_kept], pepper_id = p_pepper_id, seen_at = leasehold.now()
  where session_id = p_session_id and digest = p_old and revoked_at is null and expires_at > leasehold.now();
  if found then
    return true;
  end if;
  select * into v_session from leasehold.session where session_id = p_session_id and p_old = any(spent);
  if found then
    perform set_config('leasehold.actor', 'person:' || v_session.person_id, true);
    perform leasehold.log_action(v_session.tenant_id, 'session.replay', p_session_id);
    perform leasehold.revoke_session(p_session_id, v_session.person_id);
  end if;
  return false;
end
$$;
