-- What make_jobs does, for what is asked for most: one job without a key, a group, a gate or a time to wait for. Null: this is
-- not such a job, or there is something to be said about it; make_jobs sees to it. Small statements are quicker than one large
-- one: what it needs is made anew at every call, and an idle server has nothing of it at hand.
create or replace function leasehold.make_one(p_tenant uuid, p_kind text, p_payload jsonb, p_options jsonb) returns uuid
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_sort = off
set enable_indexscan = on set enable_nestloop = on set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_now      timestamptz := leasehold.now();
  v_job      uuid := leasehold.new_id(leasehold.micros(v_now));
  v_lane     integer;
  v_queue    text;
  v_priority smallint;
  v_clock    bigint;
  v_stride   integer;
  v_options  jsonb;
  v_max      smallint;
  v_pass     bigint;
begin
  perform pg_current_xact_id();  -- before the clock is read: see make_jobs
  select options into v_options from leasehold.kind where kind = p_kind;
  if p_payload is null or not found and not leasehold.is_kind(p_kind) then
    return null;
  end if;
  v_options := coalesce(v_options, '{}') || p_options;
  if v_options ?| array['run_at', 'delay_s', 'expires_at', 'tags', 'group', 'gate', 'unique', 'waits', 'copied_from'] then
    return null;
  end if;
  select stride into v_stride from leasehold.tenant t
  where tenant_id = p_tenant and not exists (select from leasehold.over_quota o where o.tenant_id = t.tenant_id);
  select lane, queue, priority, pg_sequence_last_value(clock) into v_lane, v_queue, v_priority, v_clock from leasehold.lane
  where queue = coalesce(v_options ->> 'queue', 'default') and priority = coalesce((v_options ->> 'priority')::smallint, 2);
  if v_stride is null or v_lane is null then
    return null;
  end if;
  v_max := coalesce((v_options ->> 'max_attempts')::smallint, 5);

  insert into leasehold.job (
    job_id, tenant_id, kind, queue, priority, payload, created_at, run_at,
    max_attempts, retry_base_s, retry_cap_s, timeout_s, version, traceparent
  )
  values (
    v_job, p_tenant, p_kind, v_queue, v_priority, p_payload, v_now, v_now,
    v_max, coalesce((v_options ->> 'retry_base_s')::real, 1), coalesce((v_options ->> 'retry_cap_s')::real, 3600),
    coalesce((v_options ->> 'timeout_s')::real, 600), coalesce((v_options ->> 'version')::smallint, 1), v_options ->> 'traceparent'
  );
  select r.pass into v_pass from leasehold.ready r  -- why a range: see newest_passes
  where r.lane = v_lane and (r.tenant_id, r.pass) > (p_tenant, v_clock) and (r.tenant_id, r.pass) <= (p_tenant, 9223372036854775807)
  order by r.tenant_id desc, r.pass desc limit 1;
  insert into leasehold.ready (lane, pass, job_id, tenant_id, attempt, max_attempts, events, bound)
  values (v_lane, greatest(v_pass, v_clock) + v_stride, v_job, p_tenant, 0, v_max, 1, false);
  return v_job;
end
$$;

revoke all on function leasehold.make_one(uuid, text, jsonb, jsonb) from public;
