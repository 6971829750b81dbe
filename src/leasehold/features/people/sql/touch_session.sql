-- Note that a session was used, at most once a minute, however many processes ask.
-- for: api
create or replace function leasehold.touch_session(p_session_id text) returns void
language sql as $$
  update leasehold.session set seen_at = leasehold.now()
  where session_id = p_session_id and seen_at <= leasehold.now() - interval '1 minute'
$$;
