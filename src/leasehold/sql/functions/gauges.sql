-- The numbers of the installation at one moment, for monitoring: jobs by queue and state (counted up to a bound), paused
-- queues, workers.
create or replace function leasehold.gauges() returns table (gauge text, queue text, state text, value double precision)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  with found as materialized (select * from leasehold.list_queues())
  select 'jobs', f.queue, s.state, s.n
  from found f cross join lateral (values ('queued', f.queued), ('scheduled', f.scheduled), ('running', f.running)) s(state, n)
  union all
  select 'queue_paused', f.queue, null, case when f.paused then 1 else 0 end from found f
  union all
  select 'workers', null, null, count(*) from leasehold.worker where ended_at is null
  union all
  select 'worker_slots', null, null, coalesce(sum(slots), 0) from leasehold.worker where ended_at is null
$$;

revoke all on function leasehold.gauges() from public;
grant execute on function leasehold.gauges() to leasehold_operator;
