-- A new job like this one of the current tenant, with this payload; it keeps where it came from. Logged. A key is not
-- taken over: it names the first job.
create or replace function leasehold.copy_job(p_job uuid, p_payload jsonb) returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job  leasehold.job := leasehold.own_job(p_job);
  v_copy uuid;
begin
  select e.job_id into v_copy
  from leasehold.enqueue(v_job.kind, array[p_payload], jsonb_strip_nulls(jsonb_build_object(
    'queue', v_job.queue, 'priority', v_job.priority, 'max_attempts', v_job.max_attempts, 'retry_base_s', v_job.retry_base_s,
    'retry_cap_s', v_job.retry_cap_s, 'timeout_s', v_job.timeout_s, 'version', v_job.version, 'tags', v_job.tags,
    'group', v_job.group_key, 'group_limit', v_job.group_limit, 'group_hold', v_job.group_hold,
    'group_gap_s', v_job.group_gap_s, 'gate', v_job.gate, 'copied_from', p_job
  ))) e;
  perform leasehold.log_action(v_job.tenant_id, 'job.copy', p_job::text, jsonb_build_object('copy', v_copy));
  return v_copy;
end
$$;

revoke all on function leasehold.copy_job(uuid, jsonb) from public;
grant execute on function leasehold.copy_job(uuid, jsonb) to leasehold_api;
