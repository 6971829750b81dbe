-- Insert one job for each payload, and put each where it belongs. p_tenants has one tenant for all payloads or one for each;
-- p_options are checked and have those of the kind. p_waits: steps of a flow, whose turn settle brings.
-- internal
create or replace function leasehold.insert_jobs(
  p_tenants uuid[], p_kind text, p_payloads jsonb[], p_options jsonb, p_keys text[] default null,
  p_waits boolean default false, out job_ids uuid[], out states text[], out created boolean[]
)
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_indexscan = on set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_job    leasehold.job := jsonb_populate_record(null::leasehold.job, leasehold.default_options() || p_options);
  v_lane   leasehold.lane;
  v_stride integer;
  v_jobs   uuid[];
  v_state  text;
begin
  if cardinality(p_tenants) = 1 then
    select stride into v_stride from leasehold.tenant where tenant_id = p_tenants[1] and may_queue;
  end if;
  if v_stride is null then
    perform leasehold.check_tenants(p_tenants);
  end if;
  select * into v_lane from leasehold.lane where queue = v_job.queue and priority = v_job.priority;
  if not found then
    perform leasehold.refuse_queue(v_job.queue);
  end if;
  v_job.kind := p_kind;
  v_job.created_at := leasehold.now();
  job_ids := case  -- they grow in the order of the payloads
    when cardinality(p_payloads) = 1 then array[leasehold.new_id(leasehold.micros(v_job.created_at))]
    else leasehold.new_ids(v_job.created_at, cardinality(p_payloads))
  end;
  created := array_fill(true, array[cardinality(job_ids)]);

  -- is_plain names what the first branch can carry. All else, and every option that is added later, takes the others.
  if v_stride is not null and p_keys is null and not p_waits and leasehold.is_plain(p_options)
    and leasehold.fit_into_rows(p_payloads)
  then
    v_state := leasehold.insert_plain_jobs(v_job, job_ids, p_tenants[1], v_stride, v_lane, p_payloads);
  elsif p_keys is null then
    v_state := leasehold.insert_job_rows(v_job, job_ids, p_tenants, v_lane, p_payloads, null, p_options, p_waits);
  else
    v_jobs := job_ids;
    job_ids := leasehold.reserve_keys(p_tenants[1], p_kind, p_keys, p_payloads, v_jobs, p_options);
    created := array(select e = j from unnest(job_ids, v_jobs) with ordinality u(e, j, o) order by o);
    select array_agg(j order by o), array_agg(p order by o), array_agg(k order by o) into v_jobs, p_payloads, p_keys
    from unnest(v_jobs, p_payloads, p_keys, created) with ordinality u(j, p, k, is_new, o) where is_new;
    if v_jobs is not null then
      v_state := leasehold.insert_job_rows(v_job, v_jobs, p_tenants, v_lane, p_payloads, p_keys, p_options, p_waits);
    end if;
  end if;
  states := array_fill(v_state, array[cardinality(job_ids)]);
  if false = any(created) then
    states := array(
      select case when is_new then v_state else leasehold.state_of(e) end
      from unnest(job_ids, created) with ordinality u(e, is_new, o) order by o
    );
  end if;
end
$$;
