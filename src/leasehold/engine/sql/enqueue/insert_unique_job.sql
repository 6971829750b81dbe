-- One job of insert_unique_jobs, which has locked the row of its key.
-- internal
create or replace function leasehold.insert_unique_job(
  p_tenant uuid, p_kind text, p_payload jsonb, p_options jsonb, out job_id uuid, out state text, out created boolean
)
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  v_key    text := p_options ->> 'unique';
  v_run_at timestamptz := coalesce(
    (p_options ->> 'run_at')::timestamptz,
    leasehold.now() + make_interval(secs => coalesce((p_options ->> 'delay_s')::double precision, 0))
  );
  v_job    leasehold.job;
  v_made   record;
begin
  select j.* into v_job
  from leasehold.unique_job u join leasehold.job j on j.job_id = u.job_id
  where u.tenant_id = p_tenant and u.kind = p_kind and u.key = v_key
    and not exists (select from leasehold.outcome o where o.job_id = u.job_id);
  if v_job.job_id is not null then
    if not p_options ? 'group' or leasehold.replace_waiting_payload(
      v_job, p_payload, case when p_options ->> 'on_duplicate' = 'push' then v_run_at end,
      case when p_options ->> 'gate' ~ '[{}]' then leasehold.fill_gate(p_options ->> 'gate', p_payload) end
    ) then
      job_id := v_job.job_id;
      state := leasehold.state_of(v_job.job_id);
      created := false;
      return;
    elsif v_job.group_key is distinct from p_options ->> 'group' then
      raise exception 'job % runs under the key %, and was asked for with the policy keep', v_job.job_id, quote_literal(v_key)
        using errcode = 'LH409', hint = 'use one policy for all jobs of a key';
    end if;
  end if;
  v_made := leasehold.insert_jobs(array[p_tenant], p_kind, array[p_payload], p_options);
  job_id := v_made.job_ids[1];
  state := v_made.states[1];
  created := true;
  update leasehold.unique_job u set job_id = v_made.job_ids[1]
  where u.tenant_id = p_tenant and u.kind = p_kind and u.key = v_key;
end
$$;
