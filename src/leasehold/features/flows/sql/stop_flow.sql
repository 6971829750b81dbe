-- End what has not started of a flow that is to stop, and ask its running steps to end; returns how many steps that were.
-- Steps that wait for others end when those have ended: see release_steps.
-- internal
-- settings: ordered
create or replace function leasehold.stop_flow(p_flow uuid) returns integer
language plpgsql as $$
declare
  v_now    timestamptz := leasehold.now();
  v_reason text := (select reason from leasehold.stop where flow_id = p_flow order by n limit 1);
  v_live   uuid[];
  v_ended  uuid[];
begin
  -- Locked rows are being started or ended by somebody: they are left to the next look, so that nobody waits in a circle.
  update leasehold.lease set cancel_requested = true where token = any(array(
    select l.token from leasehold.step s join leasehold.lease l on l.job_id = s.job_id
    where s.flow_id = p_flow and not l.cancel_requested for update of l skip locked
  ));
  v_live := array(
    select s.job_id from leasehold.step s
    where s.flow_id = p_flow
      and not exists (select from leasehold.outcome o where o.job_id = s.job_id)
      and not exists (select from leasehold.lease l where l.job_id = s.job_id)
      and not exists (select from leasehold.waiting w where w.job_id = s.job_id and w.what = 'parents')
  );
  if v_live = '{}' then
    return 0;
  end if;
  with waits as (
    delete from leasehold.waiting where job_id = any(array(
      select job_id from leasehold.waiting where job_id = any(v_live) for update skip locked
    )) returning job_id, tenant_id, events
  ),
  taken as materialized (
    select t.job_id, t.tenant_id, t.events from unnest(v_live) j(job_id)
    cross join lateral leasehold.remove_waiting_job(j.job_id) t where t.job_id is not null
    union all select * from waits
  ),
  ended as (
    insert into leasehold.outcome (job_id, tenant_id, state, finished_at, error, seq)
    select job_id, tenant_id, 'canceled', v_now, jsonb_build_object('type', 'Stopped', 'message', v_reason), events + 1 from taken
    returning job_id
  )
  select array(select job_id from ended) into v_ended;
  perform leasehold.update_flow_of_ended_jobs(v_ended);
  return cardinality(v_ended);
end
$$;
