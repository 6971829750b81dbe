-- Write the steps of a flow and what they wait for (a delay, the step's own or its kind's, begins when its turn comes); p_before (children of the last ones, with their policies) wait for those
-- that no other step waits for. Returns the steps without parents: they are for settle.
-- internal
-- settings: index
create or replace function leasehold.insert_steps(
  p_tenant uuid, p_flow uuid, p_steps leasehold.asked_step[], p_before uuid[], p_policies text[]
) returns uuid[]
language plpgsql as $$
declare
  v_taken  text;
  v_alike  record;
  v_next   integer := coalesce((select max(place) + 1 from leasehold.step where flow_id = p_flow), 0);
  v_places integer[] := '{}';
  v_jobs   uuid[] := '{}';
begin
  select s.name into v_taken from unnest(p_steps) s join leasehold.step t on t.flow_id = p_flow and t.name = s.name limit 1;
  if found then
    raise exception 'the flow has a step named % already', quote_literal(v_taken) using errcode = 'LH409', hint = 'give the new one another name';
  end if;
  for v_alike in
    select kind, options - 'delay_s' as options, array_agg(payload order by place) as payloads, array_agg(place order by place) as places
    from unnest(p_steps) group by 1, 2 order by min(place)
  loop
    v_places := v_places || v_alike.places;
    v_jobs := v_jobs || (leasehold.insert_jobs(
      array[p_tenant], v_alike.kind, v_alike.payloads,
      leasehold.options_of(v_alike.kind, v_alike.options) - 'delay_s', p_waits => true
    )).job_ids;
  end loop;

  insert into leasehold.step (job_id, flow_id, tenant_id, place, name, what, wait)
  select j.job_id, p_flow, p_tenant, v_next + s.place, s.name,
    case when s.kind in ('flow.approval', 'flow.signal', 'flow.sleep', 'flow.join') then split_part(s.kind, '.', 2) else 'job' end,
    coalesce(s.wait, jsonb_build_object('seconds', d.delay_s))
  from unnest(p_steps) s
  join unnest(v_places, v_jobs) j(place, job_id) on j.place = s.place
  left join lateral (select leasehold.options_of(s.kind, s.options) -> 'delay_s' as delay_s) d
    on d.delay_s > '0' and not s.options ? 'run_at';

  with used as (select distinct a.place from unnest(p_steps) s cross join lateral unnest(s.after) a(place)),
  edges as (
    insert into leasehold.edge (flow_id, child, parent, on_failure)
    select distinct p_flow, c.job_id, p.job_id, s.on_failure
    from unnest(p_steps) s cross join lateral unnest(s.after) a(place)
    join unnest(v_places, v_jobs) c(place, job_id) on c.place = s.place
    join unnest(v_places, v_jobs) p(place, job_id) on p.place = a.place
    union all
    select p_flow, b.child, j.job_id, b.policy
    from unnest(v_places, v_jobs) j(place, job_id) cross join unnest(p_before, p_policies) b(child, policy)
    where j.place not in (select place from used)
    returning parent, child, on_failure
  )
  insert into leasehold.dep (parent, child, on_failure) select parent, child, on_failure from edges;
  return array(
    select j.job_id from unnest(p_steps) s join unnest(v_places, v_jobs) j(place, job_id) on j.place = s.place where s.after = '{}'
  );
end
$$;
