-- A worker that leaves gives its duties back at once, and tells the others with its commit. What it tells is no name of a queue,
-- so it wakes only those who know it: see leasehold.database.wakeups.
-- internal
create or replace function leasehold.release_leadership(p_worker uuid) returns void
language sql volatile as $$
  with gone as (delete from leasehold.duty where worker_id = p_worker returning duty)
  select pg_notify(split_part('leasehold.duty', '.', 1) || '_ready', '/no leader') from gone where duty = 'leader'
$$;
