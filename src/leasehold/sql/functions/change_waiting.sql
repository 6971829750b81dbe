-- Give a job that waits another payload, and another time to run if p_run_at is not null. False: it runs, or is about to.
create or replace function leasehold.change_waiting(p_job leasehold.job, p_payload jsonb, p_run_at timestamptz) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
begin
  -- Whoever starts a job takes its row from one of these first, and passes over those that are locked.
  perform from leasehold.ready where job_id = p_job.job_id for update skip locked;
  if not found then
    perform from leasehold.deferred where job_id = p_job.job_id for update skip locked;
  end if;
  if not found then
    perform from leasehold.blocked where job_id = p_job.job_id for update skip locked;
  end if;
  if not found then
    perform from leasehold.parked where job_id = p_job.job_id for update skip locked;
  end if;
  if not found then
    perform from leasehold.gated where job_id = p_job.job_id for update skip locked;
  end if;
  if not found then
    return false;
  end if;
  update leasehold.job
  set
    payload = case when pg_column_size(p_payload) <= 65536 then p_payload end,
    payload_ref = case when pg_column_size(p_payload) > 65536 then leasehold.put_json(tenant_id, p_payload) end,
    run_at = coalesce(p_run_at, run_at)
  where job_id = p_job.job_id;
  if p_run_at is not null then
    perform leasehold.defer_waiting(p_job.job_id, p_run_at);
  end if;
  return true;
end
$$;

revoke all on function leasehold.change_waiting(leasehold.job, jsonb, timestamptz) from public;
