-- Go on with a flow of the current tenant that failed or was canceled: steps that succeeded stay as they are, all others get
-- a new budget of attempts and wait for those of their parents that are done again. Returns how many steps. Logged.
-- for: api, worker
-- settings: index
create or replace function leasehold.retry_flow(p_flow uuid) returns integer
language plpgsql as $$
declare
  v_now  timestamptz := leasehold.now();
  v_flow leasehold.flow := leasehold.require_flow(p_flow);
  v_jobs uuid[];
begin
  update leasehold.flow set state = 'running', reason = null, finished_at = null,
    deadline = case when deadline > v_now then deadline end
  where flow_id = p_flow and state in ('failed', 'canceled');
  if not found then
    raise exception 'flow % is %, and only failed and canceled flows can be retried', p_flow, v_flow.state using errcode = 'LH409';
  end if;
  perform leasehold.log_action(v_flow.tenant_id, 'flow.retry', p_flow::text, jsonb_build_object('was', v_flow.state));
  v_jobs := array(
    select s.job_id from leasehold.step s join leasehold.outcome o on o.job_id = s.job_id
    where s.flow_id = p_flow and o.state <> 'succeeded' order by s.job_id
  );

  delete from leasehold.stop where flow_id = p_flow;
  delete from leasehold.unwanted where job_id = any(v_jobs);
  insert into leasehold.waiting (job_id, tenant_id, what) values (p_flow, v_flow.tenant_id, 'end');
  insert into leasehold.waiting (job_id, tenant_id, lane, attempt, max_attempts, events)
  select r.job_id, v_flow.tenant_id, r.lane, r.attempt, r.attempt + r.budget, r.events
  from unnest(v_jobs) j(job_id) cross join lateral leasehold.requeue_ended_job(j.job_id) r;
  insert into leasehold.dep (parent, child, on_failure)
  select parent, child, on_failure from leasehold.edge
  where flow_id = p_flow and parent in (select unnest(v_jobs)) and child in (select unnest(v_jobs || p_flow))
  union  -- those whose children are all done: the flow is not over before them
  select j, p_flow, 'continue' from unnest(v_jobs) j
  where j not in (select parent from leasehold.edge where flow_id = p_flow and child in (select unnest(v_jobs || p_flow)));
  insert into leasehold.news (flow_id, tenant_id, type, data, at)
  values (p_flow, v_flow.tenant_id, 'retried', jsonb_build_object('ended', -cardinality(v_jobs)), v_now);
  perform leasehold.update_flow_of_ended_jobs(leasehold.settle_steps(
    p_flow || array(select j from unnest(v_jobs) j where not exists (select from leasehold.dep where child = j))
  ));
  return cardinality(v_jobs);
end
$$;
