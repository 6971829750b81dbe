-- What enqueue does, for what is asked for most: jobs without keys, groups, gates or a time to wait for. They are queued, and
-- their ids are all that there is to say; in an array, because a row for each takes longer than its job's place in a lane.
-- Null: these are not such jobs, or there is something to be said about them. Then nothing was done: ask enqueue.
--
-- For the api role only, which may set any tenant. Small statements are quicker than one large one: what it needs is made anew
-- at every call, and an idle server has nothing of it at hand.
-- for: api
create or replace function leasehold.enqueue_plainly(p_tenant uuid, p_kind text, p_payloads jsonb[], p_options jsonb) returns uuid[]
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_indexscan = on set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_xid      bigint := pg_current_xact_id()::text::bigint;  -- before the clock is read: see make_jobs
  v_now      timestamptz := leasehold.now();
  v_n        integer := cardinality(p_payloads);
  v_size     integer := pg_column_size(p_payloads);
  v_jobs     uuid[];
  v_lane     integer;
  v_queue    text := 'default';
  v_priority smallint := 2::smallint;  -- with its type, or each call would have to cast it
  v_clock    bigint;
  v_stride   integer;
  v_options  jsonb;
  v_max      smallint := 5::smallint;
  v_base     real := 1::real;
  v_cap      real := 3600::real;
  v_timeout  real := 600::real;
  v_version  smallint := 1::smallint;
  v_trace    text;
  v_pass     bigint;
begin
  if p_options <> '{}' then
    perform leasehold.check_options(p_options);
  end if;
  select options || p_options into v_options from leasehold.kind where kind = p_kind;
  if not found then
    if leasehold.is_kind(p_kind) is not true then
      return null;
    end if;
    v_options := p_options;
  end if;
  if v_options <> '{}' then
    if not leasehold.is_plain(v_options) then
      return null;
    end if;
    v_queue := coalesce(v_options ->> 'queue', v_queue);
    v_priority := coalesce((v_options ->> 'priority')::smallint, v_priority);
    v_max := coalesce((v_options ->> 'max_attempts')::smallint, v_max);
    v_base := coalesce((v_options ->> 'retry_base_s')::real, v_base);
    v_cap := coalesce((v_options ->> 'retry_cap_s')::real, v_cap);
    v_timeout := coalesce((v_options ->> 'timeout_s')::real, v_timeout);
    v_version := coalesce((v_options ->> 'version')::smallint, v_version);
    v_trace := v_options ->> 'traceparent';
  end if;
  if coalesce(v_n, 0) not between 1 and 10000 or array_position(p_payloads, null) is not null then
    return null;
  end if;
  if v_size > 65536 then
    if exists (select from unnest(p_payloads) p where pg_column_size(p) > 65536) then
      return null;
    end if;
  end if;
  select stride into v_stride from leasehold.tenant where tenant_id = p_tenant and may_queue;
  select lane, pg_sequence_last_value(clock) into v_lane, v_clock from leasehold.lane where queue = v_queue and priority = v_priority;
  if v_stride is null or v_lane is null then
    return null;
  end if;
  -- An equality is compared faster than the range of newest_turns. Sorting is off, so only the index with this order of nulls
  -- will do.
  select r.pass into v_pass from leasehold.ready r
  where r.lane = v_lane and r.tenant_id = p_tenant and r.pass > v_clock order by r.pass desc nulls last limit 1;
  v_pass := greatest(v_pass, v_clock);

  if v_n = 1 then
    v_jobs := array[leasehold.new_id(leasehold.micros(v_now))];
    insert into leasehold.job (
      job_id, tenant_id, kind, queue, priority, payload, created_at, run_at,
      max_attempts, retry_base_s, retry_cap_s, timeout_s, version, traceparent, xid, pass
    )
    values (
      v_jobs[1], p_tenant, p_kind, v_queue, v_priority, p_payloads[1], v_now, v_now,
      v_max, v_base, v_cap, v_timeout, v_version, v_trace, v_xid, v_pass + v_stride
    );
    insert into leasehold.ready (
      lane, pass, job_id, tenant_id, attempt, max_attempts, events, placed, kind, payload, version, timeout_s, traceparent
    )
    values (
      v_lane, v_pass + v_stride, v_jobs[1], p_tenant, 0, v_max, 1, true,
      case when v_size <= 1024 then p_kind end, case when v_size <= 1024 then p_payloads[1] end, v_version, v_timeout, v_trace
    );
    return v_jobs;
  end if;

  v_jobs := leasehold.new_ids(v_now, v_n);  -- they grow in the order of the payloads
  insert into leasehold.job (
    job_id, tenant_id, kind, queue, priority, payload, created_at, run_at,
    max_attempts, retry_base_s, retry_cap_s, timeout_s, version, traceparent, xid, pass
  )
  select
    j.job_id, p_tenant, p_kind, v_queue, v_priority, j.payload, v_now, v_now,
    v_max, v_base, v_cap, v_timeout, v_version, v_trace, v_xid, j.pass
  from (  -- taken as they come: lists in a from are written down first
    select
      unnest(v_jobs) as job_id, unnest(p_payloads) as payload,
      generate_series(v_pass + v_stride, v_pass + v_stride::bigint * v_n, v_stride::bigint) as pass
  ) j;
  insert into leasehold.ready (
    lane, pass, job_id, tenant_id, attempt, max_attempts, events, placed, kind, payload, version, timeout_s, traceparent
  )
  select
    v_lane, j.pass, j.job_id, p_tenant, 0, v_max, 1, true,
    case when pg_column_size(j.payload) <= 1024 then p_kind end, case when pg_column_size(j.payload) <= 1024 then j.payload end,
    v_version, v_timeout, v_trace
  from (
    select
      unnest(v_jobs) as job_id, unnest(p_payloads) as payload,
      generate_series(v_pass + v_stride, v_pass + v_stride::bigint * v_n, v_stride::bigint) as pass
  ) j;
  return v_jobs;
end
$$;
