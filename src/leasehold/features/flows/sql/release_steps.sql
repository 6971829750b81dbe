-- The turn of these steps has come. A job goes into its lane, by the same way as one whose time has come; an approval, a
-- signal, a sleep begins to wait; a step that is not wanted any more, or whose flow stops, ends. Returns those that have ended.
-- internal
-- settings: ordered
create or replace function leasehold.release_steps(p_rows leasehold.waiting[]) returns uuid[]
language plpgsql as $$
declare
  v_now   timestamptz := leasehold.now();
  v_ended uuid[];
  v_left  leasehold.waiting[];
  v_n     integer;
begin
  if p_rows = '{}' then
    return '{}';
  end if;
  with unwanted as (
    delete from leasehold.unwanted u where u.job_id = any(array(select w.job_id from unnest(p_rows) w)) returning u.job_id, u.error
  ),
  told as materialized (
    select w.*, s.what as sort, coalesce(u.error, (
      select jsonb_build_object('type', 'Stopped', 'message', p.reason) from leasehold.stop p
      where p.flow_id = s.flow_id order by p.n limit 1
    )) as error
    from unnest(p_rows) w
    join leasehold.step s on s.job_id = w.job_id
    left join lateral (select error from unwanted u where u.job_id = w.job_id order by u.error ->> 'type' limit 1) u on true
  ),
  ended as (
    insert into leasehold.outcome (job_id, tenant_id, state, finished_at, error, seq)
    select job_id, tenant_id, case when error is null then 'succeeded' else 'canceled' end, v_now, error, events + 1
    from told where error is not null or told.sort = 'join'
    returning job_id
  )
  select array(select job_id from ended) into v_ended;
  v_left := array(select w from unnest(p_rows) w where not exists (select from unnest(v_ended) e where e = w.job_id));

  insert into leasehold.deferred (run_at, job_id, tenant_id, lane, attempt, max_attempts, events, why, bound)
  select
    case when greatest(j.run_at, s.run_at) > v_now then greatest(j.run_at, s.run_at) else '-infinity' end,
    w.job_id, w.tenant_id, w.lane, w.attempt, w.max_attempts, w.events, 'scheduled', true
  from unnest(v_left) w
  cross join lateral (
    select v_now + make_interval(secs => (wait ->> 'seconds')::double precision) as run_at from leasehold.step
    where job_id = w.job_id and what = 'job' offset 0
  ) s
  cross join lateral (select run_at from leasehold.job where job_id = w.job_id offset 0) j;
  get diagnostics v_n = row_count;
  if v_n > 0 then
    perform leasehold.dispatch_due_jobs(v_n);  -- ours are the first, as nobody else's are due since for ever
  end if;
  if v_n < cardinality(v_left) then
    v_ended := v_ended || leasehold.start_waits(v_left);
  end if;
  return v_ended;
end
$$;
