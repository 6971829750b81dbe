-- Take a job out of wherever it waits; null when it waits nowhere. (A parked row has just what all of them share.) It gives
-- its place in a group back; a bell that it leaves behind finds nobody.
-- internal
-- settings: index
create or replace function leasehold.remove_waiting_job(p_job uuid) returns leasehold.parked
language plpgsql as $$
declare
  v_taken leasehold.parked;
begin
  delete from leasehold.ready where ctid = (select spot from leasehold.ready_of(p_job))
  returning tenant_id, job_id, lane, attempt, max_attempts, events, bound into v_taken;
  if not found then
    delete from leasehold.deferred where job_id = p_job
    returning tenant_id, job_id, lane, attempt, max_attempts, events, bound into v_taken;
  end if;
  if not found then
    delete from leasehold.blocked where job_id = p_job
    returning tenant_id, job_id, lane, attempt, max_attempts, events, true into v_taken;
  end if;
  if not found then
    delete from leasehold.gated where job_id = p_job
    returning tenant_id, job_id, lane, attempt, max_attempts, events, true into v_taken;
  end if;
  if not found then
    delete from leasehold.parked where job_id = p_job returning * into v_taken;
  end if;
  if v_taken.bound then
    perform leasehold.after_leave(array[p_job], '{}');
  end if;
  return v_taken;
end
$$;
