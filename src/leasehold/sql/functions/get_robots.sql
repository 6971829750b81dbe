-- The robots.txt of an origin as it was answered last, and for how many seconds that holds; no row when it does not.
create or replace function leasehold.get_robots(p_origin text) returns table (status smallint, file bytea, seconds double precision)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select r.status, r.file, extract(epoch from r.expires_at - leasehold.now())
  from leasehold.robots r where r.origin = p_origin and r.expires_at > leasehold.now()
$$;

revoke all on function leasehold.get_robots(text) from public;
grant execute on function leasehold.get_robots(text) to leasehold_worker;
