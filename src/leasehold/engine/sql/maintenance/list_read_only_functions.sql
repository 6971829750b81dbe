-- The functions that PostgreSQL lets change and lock nothing. A call of any other may wait for somebody else's lock.
create or replace function leasehold.list_reading_functions() returns text[]
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select array_agg(proname::text order by proname)
  from pg_proc
  where provolatile <> 'v'
    and pronamespace = (select pronamespace from pg_proc where oid = 'leasehold.now()'::regprocedure)
$$;

revoke all on function leasehold.list_reading_functions() from public;
grant execute on function leasehold.list_reading_functions() to leasehold_api;
