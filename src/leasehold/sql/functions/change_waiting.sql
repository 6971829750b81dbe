-- Give a job that waits another payload, and another time to run if p_run_at is not null. False: it runs, or has ended.
create or replace function leasehold.change_waiting(p_job leasehold.job, p_payload jsonb, p_run_at timestamptz) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set jit = off set lock_timeout = '5s'
as $$
begin
  if not leasehold.lock_waiting(p_job.job_id) then
    return false;
  end if;
  update leasehold.job
  set
    payload = case when pg_column_size(p_payload) <= 65536 then p_payload end,
    payload_ref = case when pg_column_size(p_payload) > 65536 then leasehold.put_json(tenant_id, p_payload) end,
    run_at = coalesce(p_run_at, run_at)
  where job_id = p_job.job_id;
  update leasehold.ready set kind = null, payload = null  -- its copy is out of date
  where ctid = (select spot from leasehold.ready_of(p_job.job_id));
  if p_run_at is not null then
    perform leasehold.defer_waiting(p_job.job_id, p_run_at);
  end if;
  return true;
exception when lock_not_available then
  raise exception 'job % is being started or moved by another transaction', p_job.job_id
    using errcode = 'LH409', hint = 'try again in a moment';
end
$$;

revoke all on function leasehold.change_waiting(leasehold.job, jsonb, timestamptz) from public;
