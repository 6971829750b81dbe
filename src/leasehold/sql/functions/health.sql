-- Facts for `leasehold doctor`.
create or replace function leasehold.health() returns table (
  server text, now timestamptz, files jsonb, today_has_partition boolean, last_day date, oldest_transaction text, kinds_without_worker text
)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select
    current_setting('server_version'),
    leasehold.now(),
    (select jsonb_object_agg(m.name, m.checksum) from leasehold.migration m),
    exists (select from leasehold.day where day = (leasehold.now() at time zone 'UTC')::date),
    (select max(day) from leasehold.day),
    (
      select format('pid %s (%s, %s) has been in a transaction since %s', pid, usename, application_name, xact_start)
      from pg_stat_activity where xact_start < clock_timestamp() - interval '5 minutes' and backend_type = 'client backend'
      order by xact_start limit 1
    ),
    (
      select string_agg(distinct j.kind, ', ')
      from (select job_id from leasehold.ready limit 10000) r join leasehold.job j on j.job_id = r.job_id
      where not exists (select from leasehold.worker w where w.ended_at is null and j.kind = any(w.kinds) and j.queue = any(w.queues))
    )
$$;

revoke all on function leasehold.health() from public;
grant execute on function leasehold.health() to leasehold_operator;
