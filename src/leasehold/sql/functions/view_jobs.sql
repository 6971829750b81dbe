-- These jobs of this tenant as a person wants to see them: the request, where it is now, and how it went.
create or replace function leasehold.view_jobs(p_tenant uuid, p_jobs uuid[]) returns setof leasehold.job_view
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select
    j.job_id, j.tenant_id, j.kind, j.queue, j.priority,
    coalesce(o.state, case
      when l.token is not null then 'running' when d.job_id is not null then 'scheduled'
      when b.job_id is not null or g.job_id is not null or w.job_id is not null then 'blocked'
      else 'queued'
    end),
    coalesce(l.attempt, d.attempt, r.attempt, p.attempt, b.attempt, g.attempt, w.attempt, a.attempt, 0::smallint),
    coalesce(l.max_attempts, d.max_attempts, r.max_attempts, p.max_attempts, b.max_attempts, g.max_attempts, w.max_attempts, j.max_attempts),
    coalesce(j.payload, leasehold.get_json(j.tenant_id, j.payload_ref)),
    coalesce(o.result, leasehold.get_json(o.tenant_id, o.result_ref)),
    coalesce(o.error, a.error), e.progress, e.message,
    j.created_at, coalesce(d.run_at, j.run_at), coalesce(l.started_at, a.started_at), o.finished_at, j.expires_at,
    j.version, j.key, j.tags, j.copied_from, j.traceparent, coalesce(l.cancel_requested, false), j.group_key, j.gate
  from leasehold.job j
  left join leasehold.outcome o on o.job_id = j.job_id
  left join leasehold.lease l on l.job_id = j.job_id
  left join leasehold.deferred d on d.job_id = j.job_id
  left join lateral leasehold.ready_at(j.job_id, j.queue, j.priority, j.pass) r on true
  left join leasehold.parked p on p.job_id = j.job_id
  left join leasehold.blocked b on b.job_id = j.job_id
  left join leasehold.waiting w on w.job_id = j.job_id
  left join leasehold.gated g on g.job_id = j.job_id
  left join lateral (select * from leasehold.attempt a where a.job_id = j.job_id order by a.token desc limit 1) a on true
  left join lateral (
    select e.progress, e.message from leasehold.event e
    where e.job_id = j.job_id and e.progress is not null order by e.seq desc limit 1
  ) e on true
  where j.job_id = any(p_jobs) and j.tenant_id = p_tenant
  order by j.job_id desc
$$;

revoke all on function leasehold.view_jobs(uuid, uuid[]) from public;
