-- A worker that leaves gives its duties back at once.
create or replace function leasehold.drop_duties(p_worker uuid) returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$ delete from leasehold.duty where worker_id = p_worker $$;

revoke all on function leasehold.drop_duties(uuid) from public;
