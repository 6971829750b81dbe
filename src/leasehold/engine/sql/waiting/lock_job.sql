-- Hold a job of the current tenant as it is until the end of the transaction: nobody starts it, ends it or moves it.
-- Whoever looks at it now and then changes it knows that nothing came in between.
--
-- It may go on while we look, so we look again until we find it.
-- for: api
-- settings: index
create or replace function leasehold.lock_job(p_job uuid) returns void
language plpgsql as $$
begin
  perform leasehold.require_job(p_job);
  for v_try in 1..100 loop
    if leasehold.lock_waiting_job(p_job) then return; end if;
    perform from leasehold.lease where job_id = p_job for update;
    if found then return; end if;
    perform from leasehold.outcome where job_id = p_job for update;
    if found then return; end if;
  end loop;
  raise exception 'job % keeps moving', p_job using errcode = 'LH409', hint = 'try again';
end
$$;
