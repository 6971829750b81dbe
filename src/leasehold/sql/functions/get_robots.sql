-- The same whatever its age. Programs of release 1 call it.
create or replace function leasehold.get_robots(p_origin text) returns table (status smallint, file bytea, seconds double precision)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select r.status, r.file, r.seconds from leasehold.fresh_robots(p_origin, null) r
$$;

revoke all on function leasehold.get_robots(text) from public;
grant execute on function leasehold.get_robots(text) to leasehold_worker;
