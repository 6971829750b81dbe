-- The lanes that the leader walks.
create or replace function leasehold.list_lanes() returns setof integer
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$ select lane from leasehold.lane order by lane $$;

revoke all on function leasehold.list_lanes() from public;
grant execute on function leasehold.list_lanes() to leasehold_worker;
