-- Facts for `leasehold doctor`, as one JSON object. Of other sessions it tells who and how long, never what they ask. A
-- transaction older than p_old_s seconds is told of.
-- for: operator
-- settings: no jit
create or replace function leasehold.diagnose(p_old_s double precision) returns jsonb
language sql stable as $$
  with moment as materialized (select leasehold.now() as now)
  select jsonb_build_object(
    'server', current_setting('server_version'),
    'now', leasehold.now(),
    'files', (select jsonb_object_agg(m.name, m.checksum) from leasehold.migration m),
    'release', (select max(m.release) from leasehold.migration m),
    'today_has_partition', exists (select from leasehold.day where day = (leasehold.now() at time zone 'UTC')::date),
    'last_day', (select max(day) from leasehold.day),
    'default_jobs', (select count(*) from (select from leasehold.job_default limit 10000) j),
    'sees_sessions', pg_has_role('pg_read_all_stats', 'usage'),
    'sessions', (
      select jsonb_agg(to_jsonb(s) order by s.seconds desc)
      from (
        select
          pid, usename as user, application_name as application, state,
          round(extract(epoch from clock_timestamp() - xact_start)) as seconds
        from pg_stat_activity
        where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
          and xact_start < clock_timestamp() - make_interval(secs => p_old_s)
        order by xact_start limit 5
      ) s
    ),
    'bloated', (
      select jsonb_agg(jsonb_build_object('table', c.relname, 'dead', d.dead, 'live', d.live) order by d.dead desc)
      from pg_class c
      cross join lateral (select pg_stat_get_dead_tuples(c.oid) as dead, pg_stat_get_live_tuples(c.oid) as live) d
      where c.oid in (
        'leasehold.ready'::regclass, 'leasehold.lease'::regclass, 'leasehold.deferred'::regclass,
        'leasehold.parked'::regclass, 'leasehold.blocked'::regclass, 'leasehold.worker'::regclass
      ) and d.dead > 20000 and d.dead > 2 * d.live
    ),
    'orphan_leases', (
      select count(*) from leasehold.lease l left join leasehold.worker w on w.worker_id = l.worker_id
      where l.deadline < (select now from moment) or w.worker_id is null or w.ended_at is not null
    ),
    'silent_workers', (
      select jsonb_agg(jsonb_build_object(
        'name', w.name, 'seconds', round(extract(epoch from leasehold.now() - w.beat_at)),
        'leases', (select count(*) from leasehold.lease l where l.worker_id = w.worker_id)
      ) order by w.beat_at)
      from leasehold.worker w where w.ended_at is null and w.beat_at < leasehold.now() - make_interval(secs => w.lease_s)
    ),
    'kinds_without_worker', (
      select jsonb_agg(to_jsonb(k) order by k.kind, k.queue)
      from (
        select j.kind, j.queue, count(*) as jobs
        -- A worker that takes from the queue gives back what it does not know: then it waits among the deferred.
        from (
          (select job_id from leasehold.ready where attempt >= 0 limit 10000)
          union all
          (select job_id from leasehold.deferred where why = 'released' limit 10000)
        ) r
        join leasehold.job j on j.job_id = r.job_id
        where not exists (
          select from leasehold.worker w where w.ended_at is null and j.kind = any(w.kinds) and j.queue = any(w.queues)
        )
        group by j.kind, j.queue limit 20
      ) k
    ),
    -- Programs of ours name themselves and their version: leasehold-api/1.2.3. Names may be seen by everybody.
    'programs', (
      select jsonb_agg(distinct jsonb_build_object(
        'program', split_part(application_name, '/', 1), 'version', split_part(application_name, '/', 2)
      ))
      from pg_stat_activity where datname = current_database() and application_name like 'leasehold-%/_%'
    )
  )
$$;
