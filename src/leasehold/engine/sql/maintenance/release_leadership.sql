-- A worker that leaves gives its duties back at once, and tells the others with its commit. What it tells is no name of a queue,
-- so it wakes only those who know it: see leasehold.engine.wakeups.
create or replace function leasehold.drop_duties(p_worker uuid) returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  with gone as (delete from leasehold.duty where worker_id = p_worker returning duty)
  select pg_notify(split_part('leasehold.duty', '.', 1) || '_ready', '/no leader') from gone where duty = 'leader'
$$;

revoke all on function leasehold.drop_duties(uuid) from public;
