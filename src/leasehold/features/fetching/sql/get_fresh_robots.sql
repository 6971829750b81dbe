-- The robots.txt of an origin as it was answered last, and for how many seconds that holds; no row when it does not, or was
-- asked for before p_since.
-- for: worker
create or replace function leasehold.get_fresh_robots(p_origin text, p_since timestamptz)
returns table (status smallint, file bytea, seconds double precision)
language sql stable as $$
  select r.status, r.file, extract(epoch from r.expires_at - leasehold.now())
  from leasehold.robots r
  where r.origin = p_origin and r.expires_at > leasehold.now() and r.asked_at >= coalesce(p_since, '-infinity')
$$;
