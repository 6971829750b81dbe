-- Give a job that waits another payload, and another time to run and another gate unless those are null. False: it runs,
-- or has ended. With another gate it leaves the line that it waits in.
-- internal
create or replace function leasehold.replace_waiting_payload(
  p_job leasehold.job, p_payload jsonb, p_run_at timestamptz, p_gate text
) returns boolean
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set jit = off set lock_timeout = '5s'
as $$
declare
  v_other_gate boolean := p_gate <> coalesce(p_job.gate, '');
begin
  if not leasehold.lock_waiting_job(p_job.job_id) then
    return false;
  end if;
  update leasehold.job
  set
    payload = case when pg_column_size(p_payload) <= 65536 then p_payload end,
    payload_ref = case when pg_column_size(p_payload) > 65536 then leasehold.put_json(tenant_id, p_payload) end,
    run_at = coalesce(p_run_at, run_at),
    gate = coalesce(p_gate, gate)
  where job_id = p_job.job_id;
  update leasehold.ready set kind = null, payload = null  -- its copy is out of date
  where ctid = (select spot from leasehold.ready_of(p_job.job_id));
  if p_run_at is not null then
    perform leasehold.reschedule_waiting_job(p_job.job_id, p_run_at);
  elsif v_other_gate and not exists (select from leasehold.deferred where job_id = p_job.job_id) then
    perform leasehold.reschedule_waiting_job(p_job.job_id, leasehold.now());
  end if;
  if v_other_gate then
    update leasehold.deferred set bound = true where job_id = p_job.job_id;
  end if;
  return true;
exception when lock_not_available then
  raise exception 'job % is being started or moved by another transaction', p_job.job_id
    using errcode = 'LH409', hint = 'try again in a moment';
end
$$;
