-- Note that a session was used, at most once a minute, however many processes ask.
create or replace function leasehold.touch_session(p_session_id text) returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
  update leasehold.session set seen_at = leasehold.now()
  where session_id = p_session_id and seen_at <= leasehold.now() - interval '1 minute'
$$;

revoke all on function leasehold.touch_session(text) from public;
grant execute on function leasehold.touch_session(text) to leasehold_api;
