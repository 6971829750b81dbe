-- Wake workers when this transaction commits; false where another one is about to do so.
--
-- NOTIFY takes a lock of the whole server, and holds it until the commit is on the disk. Nobody waits for it here: at most
-- one transaction takes it this way at a time, and whoever is told false wakes them by a transaction of its own that waits
-- for no disk.
-- for: api, worker
create or replace function leasehold.notify_workers(p_channel text, p_queue text) returns boolean
language sql volatile as $$ select case when pg_try_advisory_xact_lock(7513) then pg_notify(p_channel, p_queue) is not null else false end $$;
