-- Put new jobs where they wait: for the other steps of their flow, for a time, in the line of their group, or in their lane.
-- Returns their state.
-- internal
-- settings: inherited
create or replace function leasehold.place_jobs(
  p_job leasehold.job, p_jobs uuid[], p_tenants uuid[], p_lane integer, p_clock bigint, p_payloads jsonb[], p_turns bigint[],
  p_waits boolean
) returns text
language plpgsql as $$
declare
  v_bound   boolean := p_job.group_key is not null or p_job.gate is not null;
  v_carried integer := case when v_bound or p_job.expires_at is not null then 0 else 1024 end;  -- bytes that ready has a copy of
begin
  if p_waits then
    insert into leasehold.waiting (job_id, tenant_id, lane, max_attempts, events)
    select job_id, coalesce(tenant_id, p_tenants[1]), p_lane, p_job.max_attempts, 1
    from unnest(p_jobs, p_tenants) j(job_id, tenant_id);
    return 'blocked';
  end if;
  if p_job.run_at > p_job.created_at then
    insert into leasehold.deferred (run_at, job_id, tenant_id, lane, attempt, max_attempts, events, why, bound)
    select p_job.run_at, job_id, coalesce(tenant_id, p_tenants[1]), p_lane, 0, p_job.max_attempts, 1, 'scheduled', v_bound
    from unnest(p_jobs, p_tenants) j(job_id, tenant_id);
    return 'scheduled';
  end if;
  if p_job.group_key is not null then
    perform leasehold.line_up(
      p_jobs, p_tenants, p_lane, p_clock, p_job.max_attempts, p_job.group_key, p_job.group_limit, p_job.group_hold,
      p_job.group_gap_s is not null or p_job.gate is not null
    );
    return 'blocked';
  end if;
  insert into leasehold.ready (
    lane, pass, job_id, tenant_id, attempt, max_attempts, events, bound, placed, kind, payload, version, timeout_s, traceparent
  )
  select
    p_lane, j.turn, j.job_id, coalesce(j.tenant_id, p_tenants[1]), 0, p_job.max_attempts, 1, v_bound, not v_bound,
    case when pg_column_size(j.payload) <= v_carried then p_job.kind end,
    case when pg_column_size(j.payload) <= v_carried then j.payload end,
    p_job.version, p_job.timeout_s, p_job.traceparent
  from unnest(p_jobs, p_tenants, p_payloads, p_turns) j(job_id, tenant_id, payload, turn);
  return 'queued';
end
$$;
