-- Wake workers when this transaction commits; false where another one is about to do so.
--
-- NOTIFY takes a lock of the whole server, and holds it until the commit is on the disk. Nobody waits for it here: at most
-- one transaction takes it this way at a time, and whoever is told false wakes them by a transaction of its own that waits
-- for no disk.
create or replace function leasehold.wake(p_channel text, p_queue text) returns boolean
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$ select case when pg_try_advisory_xact_lock(7513) then pg_notify(p_channel, p_queue) is not null else false end $$;

revoke all on function leasehold.wake(text, text) from public;
grant execute on function leasehold.wake(text, text) to leasehold_api, leasehold_worker;
