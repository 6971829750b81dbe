-- These jobs of this tenant as a list shows them: without results, and with small payloads alone.
-- internal
create or replace function leasehold.view_jobs_briefly(p_tenant uuid, p_jobs uuid[]) returns setof leasehold.job_view
language sql stable as $$
  select
    j.job_id, j.tenant_id, j.kind, j.queue, j.priority,
    w.state, coalesce(w.attempt, a.attempt, 0::smallint), coalesce(w.max_attempts, j.max_attempts),
    case when pg_column_compression(j.payload) is null and pg_column_size(j.payload) < 1000 then j.payload end, null::jsonb,
    coalesce(o.error, a.error), e.progress, e.message,
    j.created_at, case when w.place = 'deferred' then w.until else j.run_at end,
    coalesce(w.started_at, a.started_at), o.finished_at, j.expires_at,
    j.version, j.key, j.tags, j.copied_from, j.traceparent, w.cancel_requested, j.group_key, j.gate
  from leasehold.job j
  cross join lateral leasehold.whereabouts_at(j.job_id, j.queue, j.priority, j.pass) w
  left join leasehold.outcome o on o.job_id = j.job_id
  left join lateral (select * from leasehold.attempt a where a.job_id = j.job_id order by a.token desc limit 1) a on true
  left join lateral (
    select e.progress, e.message from leasehold.event e
    where e.job_id = j.job_id and e.progress is not null order by e.seq desc limit 1
  ) e on true
  where j.job_id = any(p_jobs) and j.tenant_id = p_tenant
  order by j.job_id desc
$$;
