-- Put deferred jobs whose time has come into their lanes. First runs are charged to their tenant like an enqueue (or
-- "run_at = in a second" would be a way around fairness); what had its turn before goes right behind the clock.
-- for: worker
-- settings: hot
create or replace function leasehold.dispatch_due_jobs(p_limit integer) returns integer
language plpgsql as $$
declare
  v_rows  tid[];
  v_bound uuid[];
  v_now   timestamptz := leasehold.now();
begin
  select array_agg(d.ctid) into v_rows
  from (select ctid from leasehold.deferred where run_at <= v_now order by run_at limit p_limit for update skip locked) d;
  if v_rows is null then
    return 0;
  end if;
  perform pg_current_xact_id();  -- before the clocks are read below: see enqueue

  with due as (
    delete from leasehold.deferred where ctid = any(v_rows)
    returning run_at, job_id, tenant_id, lane, attempt, max_attempts, events, why, bound
  ),
  clock as materialized (
    select l.lane, pg_sequence_last_value(l.clock) as clock from leasehold.lane l where l.lane in (select lane from due)
  ),
  placed as materialized (
    select due.*, clock.clock, due.why = 'scheduled' as charged,
      row_number() over (partition by due.lane, due.tenant_id, due.why = 'scheduled' order by due.run_at, due.job_id) as place
    from due join clock on clock.lane = due.lane
  ),
  base as materialized (
    select p.lane, p.tenant_id, t.stride, greatest(p.clock, newest.pass) as pass
    from (select distinct lane, tenant_id, clock from placed where charged) p
    join leasehold.tenant t on t.tenant_id = p.tenant_id
    left join lateral (
      select r.pass from leasehold.ready r  -- why a range: see newest_passes
      where r.lane = p.lane
        and (r.tenant_id, r.pass) > (p.tenant_id, p.clock) and (r.tenant_id, r.pass) <= (p.tenant_id, 9223372036854775807)
      order by r.tenant_id desc, r.pass desc nulls last limit 1
    ) newest on true
  ),
  turn as materialized (
    select p.*, case when p.charged then b.pass + b.stride * p.place else p.clock + 1 end as pass
    from placed p left join base b on p.charged and b.lane = p.lane and b.tenant_id = p.tenant_id
  ),
  dispatched as (
    insert into leasehold.ready (lane, pass, job_id, tenant_id, attempt, max_attempts, events, bound)
    select lane, pass, job_id, tenant_id, attempt, max_attempts, events, bound from turn
  )
  select array_agg(job_id order by run_at, job_id) into v_bound from turn where bound;
  if v_bound is not null then
    perform leasehold.before_ready(v_bound);
  end if;
  return cardinality(v_rows);
end
$$;
