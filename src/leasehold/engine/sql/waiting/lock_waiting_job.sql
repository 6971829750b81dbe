-- Hold a job that waits where it is until the end of the transaction; false: it runs, or has ended.
--
-- A job moves between tables while we look, so we look again until we find it. Whoever moves it now is waited for: passed
-- over, a job that is on its way from one table to another would seem to wait nowhere.
-- internal
create or replace function leasehold.lock_waiting_job(p_job uuid) returns boolean
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
begin
  for v_try in 1..100 loop
    perform from leasehold.ready where ctid = (select spot from leasehold.ready_of(p_job)) for update;
    if found then return true; end if;
    perform from leasehold.deferred where job_id = p_job for update;
    if found then return true; end if;
    perform from leasehold.blocked where job_id = p_job for update;
    if found then return true; end if;
    perform from leasehold.gated where job_id = p_job for update;
    if found then return true; end if;
    perform from leasehold.parked where job_id = p_job for update;
    if found then return true; end if;
    perform from leasehold.waiting where job_id = p_job for update;
    if found then return true; end if;
    if exists (select from leasehold.lease where job_id = p_job) or exists (select from leasehold.outcome where job_id = p_job) then
      return false;
    end if;
  end loop;
  raise exception 'job % keeps moving', p_job using errcode = 'LH409', hint = 'try again';
end
$$;
