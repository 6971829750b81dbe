-- What is new for these tenants: what handlers said and how jobs ended, visible now (or to p_until) and not to p_before.
-- One look for all streams of a process; a stream was opened by its tenant before. Every row carries the snapshot of the
-- look, and there is always one: where nothing is new it has no job. Without p_before nothing is new.
--
-- Each fact is seen by the first look that sees it and by no later one, however late its transaction commits: see
-- collect_job_events.
create or replace function leasehold.tenant_news(
  p_tenants uuid[], p_before text, p_until text default null, p_limit integer default 5001
) returns table (
  snapshot text, tenant_id uuid, job_id uuid, kind text, queue text, seq integer, type text, message text, progress real,
  data jsonb, at timestamptz
)
language sql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set jit = off
as $$
  with news as materialized (
    select e.tenant_id, e.job_id, e.seq, e.type, e.message, e.progress, e.data, e.at
    from leasehold.event e
    where e.xid >= (select pg_snapshot_xmin(p_before::pg_snapshot)::text::bigint) and e.tenant_id = any(p_tenants)
      and not pg_visible_in_snapshot(e.xid::text::xid8, p_before::pg_snapshot)
      and (p_until is null or pg_visible_in_snapshot(e.xid::text::xid8, p_until::pg_snapshot))
    union all
    select o.tenant_id, o.job_id, o.seq, o.state, coalesce(o.error, a.error) ->> 'message', null,
      jsonb_strip_nulls(jsonb_build_object('attempt', a.attempt, 'error', coalesce(o.error, a.error))), o.finished_at
    from leasehold.outcome o left join leasehold.attempt a on a.job_id = o.job_id and a.finished_seq = o.seq
    where o.xid >= (select pg_snapshot_xmin(p_before::pg_snapshot)::text::bigint) and o.tenant_id = any(p_tenants)
      and not pg_visible_in_snapshot(o.xid::text::xid8, p_before::pg_snapshot)
      and (p_until is null or pg_visible_in_snapshot(o.xid::text::xid8, p_until::pg_snapshot))
    limit p_limit
  )
  select
    pg_current_snapshot()::text, n.tenant_id, n.job_id, j.kind, j.queue, n.seq, n.type, n.message, n.progress, n.data, n.at
  from (values (1)) always left join news n on true left join leasehold.job j on j.job_id = n.job_id
  order by n.at, n.job_id, n.seq
$$;

revoke all on function leasehold.tenant_news(uuid[], text, text, integer) from public;
grant execute on function leasehold.tenant_news(uuid[], text, text, integer) to leasehold_api;
