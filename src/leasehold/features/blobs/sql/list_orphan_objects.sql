-- Objects that no body has named for an hour: to be removed from the object store, and then forgotten.
create or replace function leasehold.list_loose(p_limit integer default 1000) returns text[]
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(array_agg(object_key), '{}') from (
    select object_key from leasehold.loose_object where since < leasehold.now() - interval '1 hour' order by since limit p_limit
  ) old
$$;

revoke all on function leasehold.list_loose(integer) from public;
grant execute on function leasehold.list_loose(integer) to leasehold_worker;
