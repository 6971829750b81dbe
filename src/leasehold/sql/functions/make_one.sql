-- What make_jobs does, for what is asked for most: one job without a key, a group, a gate or a time to wait for. One statement
-- instead of a dozen. Null: this is not such a job, or there is something to be said about it; make_jobs sees to it.
create or replace function leasehold.make_one(p_tenant uuid, p_kind text, p_payload jsonb, p_options jsonb) returns uuid
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_sort = off
set enable_indexscan = on set enable_nestloop = on set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := leasehold.now();
  v_job uuid;
begin
  perform pg_current_xact_id();  -- before the clock is read: see make_jobs
  with told as materialized (
    select
      t.tenant_id, t.stride, l.lane, l.queue, l.priority, pg_sequence_last_value(l.clock) as clock, o.options,
      coalesce((o.options ->> 'max_attempts')::smallint, 5) as max_attempts
    from (select coalesce((select options from leasehold.kind where kind = p_kind), '{}') || p_options as options offset 0) o
    join leasehold.lane l on l.queue = coalesce(o.options ->> 'queue', 'default')
      and l.priority = coalesce((o.options ->> 'priority')::smallint, 2)
    join leasehold.tenant t on t.tenant_id = p_tenant
    where p_payload is not null and leasehold.is_kind(p_kind)
      and not o.options ?| array['run_at', 'delay_s', 'expires_at', 'tags', 'group', 'gate', 'unique', 'waits', 'copied_from']
      and not exists (select from leasehold.over_quota q where q.tenant_id = t.tenant_id)
  ),
  made as (
    insert into leasehold.job (
      job_id, tenant_id, kind, queue, priority, payload, created_at, run_at,
      max_attempts, retry_base_s, retry_cap_s, timeout_s, version, traceparent
    )
    select
      leasehold.new_id(leasehold.micros(v_now)), tenant_id, p_kind, queue, priority, p_payload, v_now, v_now,
      max_attempts, coalesce((options ->> 'retry_base_s')::real, 1), coalesce((options ->> 'retry_cap_s')::real, 3600),
      coalesce((options ->> 'timeout_s')::real, 600), coalesce((options ->> 'version')::smallint, 1), options ->> 'traceparent'
    from told
    returning job_id
  )
  insert into leasehold.ready (lane, pass, job_id, tenant_id, attempt, max_attempts, events, bound)
  select
    lane, stride + greatest(clock, (
      -- why a range: see newest_passes
      select r.pass from leasehold.ready r
      where r.lane = told.lane and (r.tenant_id, r.pass) > (told.tenant_id, clock)
        and (r.tenant_id, r.pass) <= (told.tenant_id, 9223372036854775807)
      order by r.tenant_id desc, r.pass desc limit 1
    )),
    job_id, tenant_id, 0, max_attempts, 1, false
  from told cross join made
  returning job_id into v_job;
  return v_job;
end
$$;

revoke all on function leasehold.make_one(uuid, text, jsonb, jsonb) from public;
