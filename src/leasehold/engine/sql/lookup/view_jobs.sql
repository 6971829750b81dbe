-- These jobs of this tenant, newest first: what was asked for, where it is now, and how it went.
-- p_briefly: without results, and with small payloads alone.
--
-- In plpgsql, so that it is planned once: PostgreSQL plans SQL functions anew at each call, over the
-- partitions of every day. That all rows are in the range of the ids stands with each table: it is
-- known before the first row, so other days' partitions are not even opened.
-- internal
-- settings: hot
create or replace function leasehold.view_jobs(p_tenant uuid, p_jobs uuid[], p_briefly boolean)
returns setof leasehold.job_view
language plpgsql stable as $$
declare
  v_ids  uuid[] := array(select job from unnest(p_jobs) job order by job);
  v_from uuid := v_ids[1];
  v_to   uuid := v_ids[cardinality(v_ids)];
begin
  return query
    select
      j.job_id, j.tenant_id, j.kind, j.queue, j.priority,
      w.state, coalesce(w.attempt, a.attempt, 0::smallint), coalesce(w.max_attempts, j.max_attempts),
      case
        when not p_briefly then coalesce(j.payload, leasehold.get_json(j.tenant_id, j.payload_ref))
        when pg_column_compression(j.payload) is null and pg_column_size(j.payload) < 1000 then j.payload
      end,
      case when not p_briefly then coalesce(o.result, leasehold.get_json(o.tenant_id, o.result_ref)) end,
      coalesce(o.error, a.error), e.progress, e.message,
      j.created_at, case when w.place = 'deferred' then w.until else j.run_at end,
      coalesce(w.started_at, a.started_at), o.finished_at, j.expires_at,
      j.version, j.key, j.tags, j.copied_from, j.traceparent, w.cancel_requested, j.group_key, j.gate, j.meta
    from leasehold.job j
    cross join lateral leasehold.whereabouts_at(j.job_id, j.queue, j.priority, j.pass, v_from, v_to) w
    left join leasehold.outcome o on o.job_id = j.job_id and o.job_id >= v_from and o.job_id <= v_to
    left join lateral (
      select * from leasehold.attempt a
      where a.job_id = j.job_id and a.job_id >= v_from and a.job_id <= v_to
      order by a.token desc limit 1
    ) a on true
    left join lateral (
      select e.progress, e.message from leasehold.event e
      where e.job_id = j.job_id and e.job_id >= v_from and e.job_id <= v_to and e.progress is not null
      order by e.seq desc limit 1
    ) e on true
    where j.job_id = any(v_ids) and j.job_id >= v_from and j.job_id <= v_to and j.tenant_id = p_tenant
    order by j.job_id desc;
end
$$;
