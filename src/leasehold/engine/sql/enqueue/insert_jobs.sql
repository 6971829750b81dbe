-- What enqueue and enqueue_for do. p_tenants has one tenant for all payloads, or one for each.
--
-- Fairness: a tenant's jobs are placed one stride apart, after the newest one it has waiting; a tenant that was idle
-- starts at the clock. Nobody gains by waiting, nobody waits behind another's backlog. Jobs of a group line up with their
-- turns: see line_up.
-- internal
create or replace function leasehold.insert_jobs(
  p_tenants uuid[], p_kind text, p_payloads jsonb[], p_options jsonb, p_keys text[]
) returns setof leasehold.enqueued
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_indexscan = on set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now      timestamptz := leasehold.now();
  v_options  jsonb;
  v_queue    text;
  v_run_at   timestamptz;
  v_expires  timestamptz;
  v_max      smallint;
  v_base     real;
  v_cap      real;
  v_timeout  real;
  v_version  smallint;
  v_carried  integer;    -- the largest payload that ready has a copy of
  v_tags     text[];
  v_lane     leasehold.lane;
  v_clock    bigint;
  v_one      boolean;
  v_stride   integer;
  v_pass     bigint;
  v_passes   bigint[];   -- one for each payload, where the tenants differ
  v_placed   boolean := false;  -- the jobs know where they stand: see the table ready
  v_jobs     uuid[];
  v_existing uuid[];
  v_group    text;
  v_limit    smallint;
  v_hold     boolean;
  v_gap      real;
  v_gate     text;
  v_gates    text[];     -- one for each payload, where it depends on that
  v_bound    boolean;    -- they have a group or a gate
  v_state    text := 'queued';
begin
  perform leasehold.check_enqueue(p_kind, p_payloads, p_keys);
  if p_options <> '{}' then
    perform leasehold.check_options(p_options - 'waits');
  end if;
  v_options := leasehold.options_of(p_kind, p_options);
  v_queue := coalesce(v_options ->> 'queue', 'default');
  v_run_at := coalesce(
    (v_options ->> 'run_at')::timestamptz,
    v_now + make_interval(secs => (v_options ->> 'delay_s')::double precision),
    v_now
  );
  v_expires := (v_options ->> 'expires_at')::timestamptz;
  v_max := coalesce((v_options ->> 'max_attempts')::smallint, 5);
  v_base := coalesce((v_options ->> 'retry_base_s')::real, 1);
  v_cap := coalesce((v_options ->> 'retry_cap_s')::real, 3600);
  v_timeout := coalesce((v_options ->> 'timeout_s')::real, 600);
  v_version := coalesce((v_options ->> 'version')::smallint, 1);
  if v_options ? 'tags' then
    v_tags := array(select jsonb_array_elements_text(v_options -> 'tags'));
  end if;
  v_group := v_options ->> 'group';
  if v_group is not null then
    v_limit := coalesce((v_options ->> 'group_limit')::smallint, 1);
    v_hold := coalesce((v_options ->> 'group_hold')::boolean, false);
    v_gap := (v_options ->> 'group_gap_s')::real;
  end if;
  v_gate := v_options ->> 'gate';
  if v_gate ~ '[{}]' then
    v_gates := array(select leasehold.fill_gate(v_gate, p) from unnest(p_payloads) with ordinality u(p, o) order by o);
    v_gate := null;
  end if;
  v_bound := v_group is not null or v_gate is not null or v_gates is not null;
  v_carried := case when v_bound or v_expires is not null then 0 else 1024 end;

  -- One tenant, and one job, are the most common: they do without the functions that see to many.
  v_one := cardinality(p_tenants) = 1;
  if v_one then
    select stride into v_stride from leasehold.tenant where tenant_id = p_tenants[1] and may_queue;
  end if;
  if v_stride is null then
    perform leasehold.check_tenants(p_tenants);
  end if;
  select * into v_lane from leasehold.lane
  where queue = v_queue and priority = coalesce((v_options ->> 'priority')::smallint, 2);
  if not found then
    raise exception 'there is no queue %', quote_literal(v_queue)
      using errcode = 'LH404', hint = format(
        'known queues: %s; workers make those of their handlers, or: leasehold queues create %s',
        (select string_agg(queue, ', ' order by queue) from leasehold.queue), v_queue
      );
  end if;

  -- ids grow in the order of the payloads
  v_jobs := case
    when cardinality(p_payloads) = 1 then array[leasehold.new_id(leasehold.micros(v_now))]
    else leasehold.new_ids(v_now, cardinality(p_payloads))
  end;

  if p_keys is not null then  -- only ever for one tenant
    v_existing := leasehold.reserve_keys(
      p_tenants[1], p_kind, p_keys, p_payloads, v_jobs, coalesce((v_options ->> 'key_window_s')::double precision, 86400)
    );
    -- from here on only the new ones: the arrays lose what was there already
    select array_agg(j order by o), array_agg(p order by o), array_agg(k order by o), array_agg(g order by o)
    into v_jobs, p_payloads, p_keys, v_gates
    from unnest(v_jobs, p_payloads, p_keys, v_existing, v_gates) with ordinality u(j, p, k, e, g, o) where e is null or e = j;
    if v_jobs is null then
      return query select e, leasehold.state_of(e), false from unnest(v_existing) e;
      return;
    end if;
  end if;

  if not p_options ? 'waits' and v_run_at <= v_now then
    -- The transaction has its id before it reads the clock: whoever publishes a floor can then tell from a snapshot whether
    -- a row may still appear behind it.
    perform pg_current_xact_id();
    v_clock := pg_sequence_last_value(v_lane.clock);
    v_placed := not v_bound;
    if v_group is null and v_one then
      -- why a range: see newest_turns
      select pass into v_pass from leasehold.ready
      where lane = v_lane.lane and (tenant_id, pass) > (p_tenants[1], v_clock) and (tenant_id, pass) <= (p_tenants[1], 9223372036854775807)
      order by tenant_id desc, pass desc nulls last limit 1;
      v_pass := greatest(v_pass, v_clock);
    elsif v_group is null then
      v_passes := array(
        select t.pass + t.stride * j.nth
        from leasehold.newest_turns(p_tenants, v_lane.lane, v_clock) t join (
          select tenant_id, o, row_number() over (partition by tenant_id order by o) as nth
          from unnest(p_tenants) with ordinality u(tenant_id, o)
        ) j on j.tenant_id = t.tenant_id
        order by j.o
      );
    end if;
  end if;

  insert into leasehold.job (
    job_id, tenant_id, kind, queue, priority, payload, payload_ref, created_at, run_at, expires_at,
    max_attempts, retry_base_s, retry_cap_s, timeout_s, version, key, tags, copied_from, traceparent,
    group_key, group_limit, group_hold, group_gap_s, gate, unique_key, xid, pass
  )
  select
    j.job_id, coalesce(j.tenant_id, p_tenants[1]), p_kind, v_queue, v_lane.priority,
    -- what would not fit into a row is kept beside it
    case when pg_column_size(j.payload) <= 65536 then j.payload end,
    case when pg_column_size(j.payload) > 65536 then leasehold.put_json(coalesce(j.tenant_id, p_tenants[1]), j.payload) end,
    v_now, v_run_at, v_expires, v_max, v_base, v_cap, v_timeout, v_version, j.key, v_tags,
    (v_options ->> 'copied_from')::uuid, v_options ->> 'traceparent', v_group, v_limit, v_hold, v_gap,
    coalesce(v_gate, j.gate), v_options ->> 'unique', (select pg_current_xact_id()::text::bigint),
    case when v_placed then coalesce(j.pass, v_pass + v_stride * j.o) end
  from unnest(v_jobs, p_tenants, p_payloads, p_keys, v_gates, v_passes)
    with ordinality j(job_id, tenant_id, payload, key, gate, pass, o);

  if p_options ? 'waits' then  -- steps of a flow: settle lets them go on
    v_state := 'blocked';
    insert into leasehold.waiting (job_id, tenant_id, lane, max_attempts, events)
    select job_id, p_tenants[1], v_lane.lane, v_max, 1 from unnest(v_jobs) job_id;
  elsif v_run_at > v_now then
    v_state := 'scheduled';
    insert into leasehold.deferred (run_at, job_id, tenant_id, lane, attempt, max_attempts, events, why, bound)
    select v_run_at, job_id, coalesce(tenant_id, p_tenants[1]), v_lane.lane, 0, v_max, 1, 'scheduled', v_bound
    from unnest(v_jobs, p_tenants) j(job_id, tenant_id);
  elsif v_group is not null then
    v_state := 'blocked';
    perform leasehold.line_up(
      v_jobs, p_tenants, v_lane.lane, v_clock, v_max, v_group, v_limit, v_hold,
      v_gap is not null or v_gate is not null or v_gates is not null
    );
  else
    insert into leasehold.ready (
      lane, pass, job_id, tenant_id, attempt, max_attempts, events, bound, placed, kind, payload, version, timeout_s, traceparent
    )
    select
      v_lane.lane, coalesce(j.pass, v_pass + v_stride * j.o), j.job_id, coalesce(j.tenant_id, p_tenants[1]), 0, v_max, 1,
      v_bound, v_placed,
      case when pg_column_size(j.payload) <= v_carried then p_kind end,
      case when pg_column_size(j.payload) <= v_carried then j.payload end,
      v_version, v_timeout, v_options ->> 'traceparent'
    from unnest(v_jobs, p_tenants, p_payloads, v_passes) with ordinality j(job_id, tenant_id, payload, pass, o);
  end if;

  if v_existing is null then
    return query select job_id, v_state, true from unnest(v_jobs) job_id;
  else
    return query select e, leasehold.state_of(e), e = any(v_jobs) from unnest(v_existing) e;
  end if;
end
$$;
