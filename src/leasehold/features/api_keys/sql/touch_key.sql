-- Note that a key was used, at most once a minute, however many processes ask.
-- for: api
create or replace function leasehold.touch_key(p_key_id text) returns void
language sql as $$
  update leasehold.api_key set last_used_at = leasehold.now()
  where key_id = p_key_id and (last_used_at is null or last_used_at <= leasehold.now() - interval '1 minute')
$$;
