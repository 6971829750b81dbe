-- Ask for one job under a key of which at most one job waits. When there is one that has not ended, p_policy says what
-- happens to it:
--   keep     nothing: it is the answer
--   replace  it gets this payload, if it waits
--   push     it gets this payload and this time to run, if it waits (a debounce)
-- With replace and push, one that runs already is followed by a new one, which waits for its end: they are a group.
--
-- The key's row is locked by make_unique. Ends of jobs do not touch it: whether its job has ended is seen here.
-- internal
create or replace function leasehold.enqueue_unique(p_tenant uuid, p_kind text, p_payload jsonb, p_options jsonb)
returns leasehold.enqueued
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  v_key    text := p_options ->> 'unique';
  v_policy text := coalesce(p_options ->> 'on_duplicate', 'keep');
  v_group  text := 'unique:' || md5(p_kind || ' ' || v_key);
  v_now    timestamptz := leasehold.now();
  v_run_at timestamptz := coalesce(
    (p_options ->> 'run_at')::timestamptz, v_now + make_interval(secs => coalesce((p_options ->> 'delay_s')::double precision, 0))
  );
  v_job    leasehold.job;
  v_made   leasehold.enqueued;
begin
  select j.* into v_job
  from leasehold.unique_job u join leasehold.job j on j.job_id = u.job_id
  where u.tenant_id = p_tenant and u.kind = p_kind and u.key = v_key
    and not exists (select from leasehold.outcome o where o.job_id = u.job_id);
  if v_job.job_id is not null then
    if v_policy = 'keep' or leasehold.replace_waiting_payload(
      v_job, p_payload, case when v_policy = 'push' then v_run_at end,
      case when p_options ->> 'gate' ~ '[{}]' then leasehold.fill_gate(p_options ->> 'gate', p_payload) end
    ) then
      return row(v_job.job_id, leasehold.state_of(v_job.job_id), false)::leasehold.enqueued;
    elsif v_job.group_key is distinct from v_group then
      raise exception 'job % runs under the key %, and was asked for with the policy keep', v_job.job_id, quote_literal(v_key)
        using errcode = 'LH409', hint = 'use one policy for all jobs of a key';
    end if;
  end if;

  if v_policy <> 'keep' then
    p_options := p_options || jsonb_build_object('group', v_group, 'group_limit', 1);
  end if;
  select * into v_made from leasehold.insert_jobs(array[p_tenant], p_kind, array[p_payload], p_options, null);
  update leasehold.unique_job set job_id = v_made.job_id where tenant_id = p_tenant and kind = p_kind and key = v_key;
  return v_made;
end
$$;
