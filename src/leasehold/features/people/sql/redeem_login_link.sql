-- Use a login link up: the operator's session of this id begins. False for a link that is not there, was used or is too old.
-- for: api
create or replace function leasehold.redeem_login_link(
  p_link bytea, p_session_id text, p_digest bytea, p_pepper_id text, p_seconds double precision
) returns boolean
language plpgsql as $$
declare
  v_link leasehold.login_link;
begin
  delete from leasehold.login_link where digest = p_link returning * into v_link;
  if not coalesce(v_link.expires_at > leasehold.now(), false) then
    return false;
  end if;
  perform set_config('leasehold.actor', 'link:' || encode(substring(p_link for 6), 'hex'), true);
  perform leasehold.put_session(p_session_id, 'browser', null, v_link.tenant_id, true, p_digest, p_pepper_id, p_seconds);
  return true;
end
$$;
