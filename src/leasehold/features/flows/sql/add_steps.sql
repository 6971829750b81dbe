-- Add steps to the flow of a running step, under its token: whatever waits for that step waits for them too. To be called in
-- the transaction that ends the step, or a second attempt would add them again. Those without parents start at once.
-- for: worker
-- settings: index
create or replace function leasehold.add_steps(p_token bigint, p_steps jsonb) returns uuid[]
language plpgsql as $$
declare
  v_job    uuid;
  v_step   leasehold.step;
  v_first  uuid[];
  v_before uuid[];
  v_policies text[];
begin
  select job_id into v_job from leasehold.lease where token = p_token for update;
  if not found then
    raise exception 'the lease with token % is gone', p_token using errcode = 'LH410', hint = 'add steps before the job is complete';
  end if;
  select * into v_step from leasehold.step where job_id = v_job;
  if not found then
    raise exception 'job % is no step of a flow', v_job using errcode = 'LH409', hint = 'start a flow, or enqueue a job';
  end if;
  -- While this step runs, what waits for it cannot move: nobody else looks at these rows.
  select array_agg(child), array_agg(on_failure) into v_before, v_policies from leasehold.dep where parent = v_job;
  v_first := leasehold.insert_steps(v_step.tenant_id, v_step.flow_id, leasehold.read_steps(p_steps), v_before, v_policies);
  perform leasehold.update_flow_of_ended_jobs(leasehold.settle_steps(v_first));
  return v_first;
end
$$;
