-- Let this job, which has ended and is about to be retried, have its unique key again; a conflict when another one waits or
-- runs under it.
-- internal
create or replace function leasehold.take_over_unique_key(p_job leasehold.job) returns void
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  v_other uuid;
begin
  v_other := leasehold.job_of_unique_key(p_job.tenant_id, p_job.kind, p_job.unique_key);
  if v_other <> p_job.job_id then
    raise exception 'job % has the unique key of job % now', v_other, p_job.job_id
      using errcode = 'LH409', hint = 'cancel it first, or leave the work to it';
  end if;
  update leasehold.unique_job set job_id = p_job.job_id
  where tenant_id = p_job.tenant_id and kind = p_job.kind and key = p_job.unique_key;
end
$$;
