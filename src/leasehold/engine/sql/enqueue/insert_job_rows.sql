-- The branch of insert_jobs for all jobs that are not plain: whatever their options ask for. Returns the state of these jobs.
-- internal
-- settings: inherited
create or replace function leasehold.insert_job_rows(
  p_job leasehold.job, p_jobs uuid[], p_tenants uuid[], p_lane leasehold.lane, p_payloads jsonb[], p_keys text[],
  p_options jsonb, p_waits boolean
) returns text
language plpgsql as $$
declare
  -- The transaction has its id before it reads the clock: whoever publishes a floor can then tell from a snapshot whether a
  -- row may still appear behind it.
  v_xid    bigint := pg_current_xact_id()::text::bigint;
  v_clock  bigint := pg_sequence_last_value(p_lane.clock);
  v_gates  text[];    -- one for each payload, where it depends on that
  v_turns  bigint[];  -- of jobs that go into their lane at once
begin
  p_job.run_at := coalesce(
    p_job.run_at, p_job.created_at + make_interval(secs => (p_options ->> 'delay_s')::double precision), p_job.created_at
  );
  p_job.unique_key := p_options ->> 'unique';
  p_job.group_key := p_options ->> 'group';
  if p_job.group_key is null then
    p_job.group_limit := null;
    p_job.group_hold := null;
    p_job.group_gap_s := null;
  end if;
  if p_job.gate ~ '[{}]' then
    v_gates := array(select leasehold.fill_gate(p_job.gate, p) from unnest(p_payloads) with ordinality u(p, o) order by o);
  end if;
  if not p_waits and p_job.run_at <= p_job.created_at and p_job.group_key is null then
    v_turns := leasehold.next_turns(p_tenants, p_jobs, p_lane.lane, v_clock);
  end if;

  insert into leasehold.job (
    job_id, tenant_id, kind, queue, priority, payload, payload_ref, created_at, run_at, expires_at,
    max_attempts, retry_base_s, retry_cap_s, timeout_s, version, key, tags, meta, copied_from, traceparent,
    group_key, group_limit, group_hold, group_gap_s, gate, unique_key, xid, pass
  )
  select
    j.job_id, coalesce(j.tenant_id, p_tenants[1]), p_job.kind, p_job.queue, p_job.priority,
    -- what would not fit into a row is kept beside it
    case when pg_column_size(j.payload) <= 65536 then j.payload end,
    case when pg_column_size(j.payload) > 65536 then leasehold.put_json(coalesce(j.tenant_id, p_tenants[1]), j.payload) end,
    p_job.created_at, p_job.run_at, p_job.expires_at, p_job.max_attempts, p_job.retry_base_s, p_job.retry_cap_s,
    p_job.timeout_s, p_job.version, j.key, p_job.tags, p_job.meta, p_job.copied_from, p_job.traceparent,
    p_job.group_key, p_job.group_limit, p_job.group_hold, p_job.group_gap_s, coalesce(j.gate, p_job.gate), p_job.unique_key,
    v_xid, case when p_job.gate is null then j.turn end
  from unnest(p_jobs, p_tenants, p_payloads, p_keys, v_gates, v_turns) j(job_id, tenant_id, payload, key, gate, turn);
  return leasehold.place_jobs(p_job, p_jobs, p_tenants, p_lane.lane, v_clock, p_payloads, v_turns, p_waits);
end
$$;
