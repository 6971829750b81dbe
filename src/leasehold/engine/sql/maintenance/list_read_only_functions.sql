-- The functions that PostgreSQL lets change and lock nothing. A call of any other may wait for somebody else's lock.
-- for: api
create or replace function leasehold.list_read_only_functions() returns text[]
language sql stable as $$
  select array_agg(proname::text order by proname)
  from pg_proc
  where provolatile <> 'v'
    and pronamespace = (select pronamespace from pg_proc where oid = 'leasehold.now()'::regprocedure)
$$;
