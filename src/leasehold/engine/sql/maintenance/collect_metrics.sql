-- The numbers of the installation at one moment, for Prometheus: names and labels as in docs/reference/metrics.md. Every
-- read is bounded or small, so that it may be asked every few seconds; the history itself is never read.
-- for: operator
-- settings: index
create or replace function leasehold.collect_metrics() returns table (metric text, labels jsonb, value double precision)
language sql stable as $$
  with moment as materialized (select leasehold.now() as now),
  queues as materialized (select * from leasehold.list_queues()),
  -- In a step of its own: inline the floor would be a filter, and the scan would walk everything below it.
  lanes as materialized (select lane, queue, coalesce(pg_sequence_last_value(floor), 0) - 1 as floor from leasehold.lane),
  oldest as materialized (
    select l.queue, 'queued' as state, min(j.run_at) as since
    from lanes l
    cross join lateral (
      select r.job_id from leasehold.ready r
      where r.lane = l.lane and r.pass >= l.floor and r.attempt >= 0 order by r.pass limit 100
    ) r
    join leasehold.job j on j.job_id = r.job_id
    group by l.queue
    union all
    select l.queue, 'scheduled', min(d.run_at)
    from (select lane, run_at from leasehold.deferred order by run_at limit 100) d join lanes l on l.lane = d.lane
    group by l.queue
    union all
    select l.queue, 'running', min(e.started_at)
    from (select lane, started_at from leasehold.lease limit 100000) e join lanes l on l.lane = e.lane
    group by l.queue
  ),
  minute as materialized (
    select queue, kind, outcome, sum(n) as n, sum(wait_ms) / 1000.0 as wait_s, sum(run_ms) / 1000.0 as run_s
    from leasehold.stat where minute = (select date_trunc('minute', now) - interval '2 minutes' from moment)
    group by queue, kind, outcome
  )
  select 'jobs', jsonb_build_object('queue', q.queue, 'state', s.state), s.n::double precision
  from queues q
  cross join lateral (values ('queued', q.queued), ('scheduled', q.scheduled), ('running', q.running)) s(state, n)
  union all
  select
    'queue_age_seconds', jsonb_build_object('queue', q.queue, 'state', s.state),
    coalesce(greatest(extract(epoch from m.now - o.since), 0), 0)
  from moment m cross join queues q cross join (values ('queued'), ('scheduled'), ('running')) s(state)
  left join oldest o on o.queue = q.queue and o.state = s.state
  union all
  select 'queue_paused', jsonb_build_object('queue', q.queue), q.paused::integer from queues q
  union all
  select 'workers', '{}', count(*) from leasehold.worker where ended_at is null
  union all
  select 'worker_slots', '{}', coalesce(sum(slots), 0) from leasehold.worker where ended_at is null
  union all
  select 'orphan_leases', '{}', count(*)
  from leasehold.lease l left join leasehold.worker w on w.worker_id = l.worker_id
  where l.deadline < (select now from moment) or w.worker_id is null or w.ended_at is not null
  union all
  select 'tenants_over_quota', '{}', count(*) from leasehold.over_quota
  union all
  select s.metric, jsonb_build_object('queue', m.queue, 'kind', m.kind, 'outcome', m.outcome), s.value
  from minute m
  cross join lateral (
    values ('minute_attempts', m.n), ('minute_wait_seconds', m.wait_s), ('minute_run_seconds', m.run_s)
  ) s(metric, value)
  union all
  select * from leasehold.collect_metrics_of_features()
  union all
  select 'partition_days_ahead', '{}', coalesce(max(day), '-infinity') - (leasehold.now() at time zone 'UTC')::date
  from leasehold.day where exists (select from leasehold.day)
  union all
  select 'default_partition_jobs', '{}', count(*) from (select from leasehold.job_default limit 10000) j
  union all
  select
    'oldest_transaction_seconds', '{}', greatest(coalesce(extract(epoch from clock_timestamp() - min(xact_start)), 0), 0)
  from pg_stat_activity where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
  having pg_has_role('pg_read_all_stats', 'usage')
  union all
  select 'dead_rows', jsonb_build_object('table', t.name), pg_stat_get_dead_tuples(t.id)
  from (
    values ('ready', 'leasehold.ready'::regclass), ('lease', 'leasehold.lease'), ('deferred', 'leasehold.deferred')
  ) t(name, id)
$$;
