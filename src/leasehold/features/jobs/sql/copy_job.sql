-- A new job like this one of the current tenant, with this payload, that starts at once; it keeps where it came from.
-- Logged, with what the copy has not taken over:
--
--   key          names the first job
--   traceparent  is the trace of whoever asked for the first job
--   run_at       a copy is asked for now
--   expires_at   if that has passed; no copy could start
--
-- The unique key is taken over, so a copy is refused while a job waits or runs under it; like a retry. A gate that the
-- kind makes of the payload is made anew.
-- for: api
create or replace function leasehold.copy_job(p_job uuid, p_payload jsonb) returns uuid
language plpgsql as $$
declare
  v_job    leasehold.job := leasehold.require_job(p_job);
  v_now    timestamptz := leasehold.now();
  v_other  uuid;
  v_waited boolean := v_job.unique_key is not null and v_job.group_key is not null;  -- its policy: see insert_unique_jobs
  v_row    jsonb := to_jsonb(v_job) - 'payload';
  v_given  jsonb;
  v_copy   uuid;
begin
  if v_job.unique_key is not null then
    v_other := leasehold.job_of_unique_key(v_job.tenant_id, v_job.kind, v_job.unique_key);
    if v_other is not null then
      raise exception 'job % waits or runs under the unique key %, which the copy would have',
        v_other, quote_literal(v_job.unique_key)
        using errcode = 'LH409', hint = 'cancel it first, or wait for its end';
    end if;
  end if;
  -- All that the job has of the options, whichever there are, but for what a copy has of its own.
  select jsonb_object_agg(option, v_row -> option) into v_given
  from unnest(leasehold.known_options('job')) option where v_row ? option;
  v_given := v_given || jsonb_build_object(
    'group', case when not v_waited then v_job.group_key end,
    'gate', case when not leasehold.has_gate_of_kind(v_job) then v_job.gate end,
    'unique', v_job.unique_key,
    'on_duplicate', case when v_job.unique_key is not null then case when v_waited then 'replace' else 'keep' end end,
    'delay_s', 0, 'run_at', null, 'expires_at', case when v_job.expires_at > v_now then v_job.expires_at end,
    'copied_from', p_job, 'traceparent', null
  );
  select e.job_ids[1] into v_copy from leasehold.enqueue(v_job.kind, array[p_payload], v_given) e;
  perform leasehold.log_action(
    v_job.tenant_id, 'job.copy', p_job::text, jsonb_build_object('copy', v_copy, 'left_out', array_remove(array[
      case when v_job.key is not null then 'key' end, case when v_job.traceparent is not null then 'traceparent' end,
      case when v_job.run_at > v_job.created_at then 'run_at' end,
      case when v_job.expires_at <= v_now then 'expires_at' end
    ], null))
  );
  return v_copy;
end
$$;
