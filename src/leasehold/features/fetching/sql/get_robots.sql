-- The same whatever its age. Programs of release 1 call it.
-- for: worker
create or replace function leasehold.get_robots(p_origin text) returns table (status smallint, file bytea, seconds double precision)
language sql stable as $$
  select r.status, r.file, r.seconds from leasehold.get_fresh_robots(p_origin, null) r
$$;
