-- Keep an origin's robots.txt for so many seconds, for all tenants. p_status is null where there was no answer.
-- for: worker
create or replace function leasehold.put_robots(p_origin text, p_status integer, p_file bytea, p_seconds double precision) returns void
language sql volatile as $$
  insert into leasehold.robots (origin, status, file, expires_at, asked_at)
  values (p_origin, p_status, p_file, leasehold.now() + make_interval(secs => p_seconds), leasehold.now())
  on conflict (origin) do update
  set status = excluded.status, file = excluded.file, expires_at = excluded.expires_at, asked_at = excluded.asked_at
$$;
