-- Nobody but the claim that let them in looks below the floor. Those whom it could not start after
-- all (its tenant is being counted by another claim, or its rounds are over) go to where everybody
-- looks.
-- internal
-- settings: ordered
create or replace function leasehold.restore_lane_order(p_lane integer, p_pass bigint) returns void
language plpgsql as $$
declare
  v_rows tid[] := array(
    select ctid from leasehold.ready where lane = p_lane and pass = p_pass for update skip locked
  );
begin
  if v_rows = '{}' then
    return;
  end if;
  with gone as (
    delete from leasehold.ready where ctid = any(v_rows)
    returning job_id, tenant_id, attempt, max_attempts, events, bound
  )
  insert into leasehold.ready (lane, pass, job_id, tenant_id, attempt, max_attempts, events, bound)
  select p_lane, leasehold.lane_clock(p_lane) + 1, job_id, tenant_id, attempt, max_attempts, events, bound from gone;
end
$$;
