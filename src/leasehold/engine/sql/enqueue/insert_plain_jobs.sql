-- The branch of insert_jobs for jobs that need nothing but a place in their lane: of one tenant, with options that is_plain
-- allows, without keys, with payloads that fit into their rows. It writes what insert_job_rows would write.
--
-- Fairness: a tenant's jobs are placed one stride apart, after the newest one it has waiting; a tenant that was idle starts
-- at the lane's clock. A tenant gains nothing by waiting, and waits behind no other's backlog.
-- internal
-- settings: inherited
create or replace function leasehold.insert_plain_jobs(
  p_job leasehold.job, p_jobs uuid[], p_tenant uuid, p_stride bigint, p_lane leasehold.lane, p_payloads jsonb[]
) returns text
language plpgsql as $$
declare
  v_xid   bigint := pg_current_xact_id()::text::bigint;  -- before the clock is read: see insert_job_rows
  v_clock bigint := pg_sequence_last_value(p_lane.clock);
  v_first bigint;
  v_last  bigint;
begin
  -- An equality is compared faster than the range of newest_turns. Sorting is off, so only the index with this order of
  -- nulls will do.
  select r.pass into v_first from leasehold.ready r
  where r.lane = p_lane.lane and r.tenant_id = p_tenant and r.pass > v_clock order by r.pass desc nulls last limit 1;
  v_first := greatest(v_first, v_clock) + p_stride;
  v_last := v_first + p_stride * (cardinality(p_jobs) - 1);

  -- Lists are taken apart in the select list: in a from they would be written down first.
  insert into leasehold.job (
    job_id, tenant_id, kind, queue, priority, payload, created_at, run_at,
    max_attempts, retry_base_s, retry_cap_s, timeout_s, version, traceparent, xid, pass
  )
  select
    j.job_id, p_tenant, p_job.kind, p_job.queue, p_job.priority, j.payload, p_job.created_at, p_job.created_at,
    p_job.max_attempts, p_job.retry_base_s, p_job.retry_cap_s, p_job.timeout_s, p_job.version, p_job.traceparent, v_xid, j.pass
  from (
    select unnest(p_jobs) as job_id, unnest(p_payloads) as payload, generate_series(v_first, v_last, p_stride) as pass
  ) j;
  insert into leasehold.ready (
    lane, pass, job_id, tenant_id, attempt, max_attempts, events, placed, kind, payload, version, timeout_s, traceparent
  )
  select
    p_lane.lane, j.pass, j.job_id, p_tenant, 0, p_job.max_attempts, 1, true,
    case when pg_column_size(j.payload) <= 1024 then p_job.kind end, case when pg_column_size(j.payload) <= 1024 then j.payload end,
    p_job.version, p_job.timeout_s, p_job.traceparent
  from (
    select unnest(p_jobs) as job_id, unnest(p_payloads) as payload, generate_series(v_first, v_last, p_stride) as pass
  ) j;
  return 'queued';
end
$$;
