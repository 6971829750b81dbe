-- What is new for these tenants: that jobs were asked for, started, ended an attempt or ended, what handlers said, and what
-- happened to flows; visible now (or to p_until) and not to p_before. One look for all streams of a process; a stream was
-- opened by its tenant before. Every row carries the snapshot of the look, and there is always one: where nothing is new it
-- has no job. Without p_before nothing is new. Of a flow the job is its id, the kind its name, and there is no queue.
--
-- Each fact is seen by the first look that sees it and by no later one, however late its transaction commits: see
-- collect_job_events. An attempt tells of its start as well, by the number of the transaction that made its lease; that the
-- scan is bounded by the one that ended it leaves none out: an attempt that p_before saw ended, it saw started.
-- for: api
-- settings: index
create or replace function leasehold.tenant_changes(
  p_tenants uuid[], p_before text, p_until text default null, p_limit integer default 5001
) returns table (
  snapshot text, tenant_id uuid, job_id uuid, kind text, queue text, seq integer, type text, message text, progress real,
  data jsonb, at timestamptz
)
language sql stable as $$
  with news as materialized (
    select e.tenant_id, e.job_id, e.seq, e.type, e.message, e.progress, e.data, e.at
    from leasehold.event e
    where e.xid >= (select pg_snapshot_xmin(p_before::pg_snapshot)::text::bigint) and e.tenant_id = any(p_tenants)
      and not pg_visible_in_snapshot(e.xid::text::xid8, p_before::pg_snapshot)
      and (p_until is null or pg_visible_in_snapshot(e.xid::text::xid8, p_until::pg_snapshot))
    union all
    select o.tenant_id, o.job_id, o.seq, o.state, coalesce(o.error, a.error) ->> 'message', null,
      jsonb_strip_nulls(jsonb_build_object('attempt', a.attempt, 'error', coalesce(o.error, a.error))), o.finished_at
    from leasehold.outcome o left join lateral leasehold.attempts_of(o.job_id) a on a.finished_seq = o.seq
    where o.xid >= (select pg_snapshot_xmin(p_before::pg_snapshot)::text::bigint) and o.tenant_id = any(p_tenants)
      and not pg_visible_in_snapshot(o.xid::text::xid8, p_before::pg_snapshot)
      and (p_until is null or pg_visible_in_snapshot(o.xid::text::xid8, p_until::pg_snapshot))
    union all
    select j.tenant_id, j.job_id, 1, case when j.run_at > j.created_at then 'scheduled' else 'queued' end, null, null,
      jsonb_build_object('run_at', j.run_at), j.created_at
    from leasehold.job j
    where j.xid >= (select pg_snapshot_xmin(p_before::pg_snapshot)::text::bigint) and j.tenant_id = any(p_tenants)
      and not pg_visible_in_snapshot(j.xid::text::xid8, p_before::pg_snapshot)
      and (p_until is null or pg_visible_in_snapshot(j.xid::text::xid8, p_until::pg_snapshot))
    union all
    select l.tenant_id, l.job_id, l.started_seq, 'started', null, null,
      jsonb_build_object('attempt', l.attempt, 'worker_id', l.worker_id), l.started_at
    from leasehold.lease l
    where l.token >= (select pg_sequence_last_value('leasehold.token_floor')) and l.tenant_id = any(p_tenants)
      and not pg_visible_in_snapshot(l.xid::text::xid8, p_before::pg_snapshot)
      and (p_until is null or pg_visible_in_snapshot(l.xid::text::xid8, p_until::pg_snapshot))
    union all
    select a.tenant_id, a.job_id, a.started_seq, 'started', null, null,
      jsonb_build_object('attempt', a.attempt, 'worker_id', a.worker_id), a.started_at
    from leasehold.attempt a
    where a.xid >= (select pg_snapshot_xmin(p_before::pg_snapshot)::text::bigint) and a.tenant_id = any(p_tenants)
      and not pg_visible_in_snapshot(a.started_xid::text::xid8, p_before::pg_snapshot)
      and (p_until is null or pg_visible_in_snapshot(a.started_xid::text::xid8, p_until::pg_snapshot))
    union all
    select a.tenant_id, a.job_id, a.finished_seq, a.outcome, a.error ->> 'message', null,
      jsonb_strip_nulls(jsonb_build_object('attempt', a.attempt, 'error', a.error)), a.finished_at
    from leasehold.attempt_row a
    where a.xid >= (select pg_snapshot_xmin(p_before::pg_snapshot)::text::bigint) and a.tenant_id = any(p_tenants)
      and not pg_visible_in_snapshot(a.xid::text::xid8, p_before::pg_snapshot)
      and (p_until is null or pg_visible_in_snapshot(a.xid::text::xid8, p_until::pg_snapshot))
      and not exists (select from leasehold.outcome o where o.job_id = a.job_id and o.seq = a.finished_seq)
    limit p_limit
  )
  select
    pg_current_snapshot()::text, n.tenant_id, n.job_id, coalesce(j.kind, f.name), j.queue, n.seq, n.type, n.message, n.progress,
    n.data, n.at
  from (values (1)) always
  left join news n on true
  left join leasehold.job j on j.job_id = n.job_id
  left join leasehold.flow f on f.flow_id = n.job_id
  -- by time, but never against the order of one job's own numbers
  order by max(n.at) over (partition by n.job_id order by n.seq), n.job_id, n.seq
$$;
