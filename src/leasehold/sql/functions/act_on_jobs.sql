-- One piece of a bulk action of the current tenant, asked for by the job p_by: retry, cancel or delete the next jobs that
-- fit the filter. p_before is the p_next of the piece before, null at first; p_next is null after the last one.
--
-- Only jobs older than p_by are touched, and none that ended after it was asked for: an action that is begun again after a
-- crash passes over what it did, and a retried job that is dead once more stays so.
create or replace function leasehold.act_on_jobs(
  p_by uuid, p_action text, p_filter jsonb, p_before uuid, p_limit integer, p_reason text, out p_done integer, out p_next uuid
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_by   leasehold.job := leasehold.own_job(p_by);
  v_jobs uuid[];
  v_job  uuid;
begin
  perform leasehold.check_filter(p_filter, p_limit);
  v_jobs := leasehold.match_jobs(
    v_by.tenant_id, p_filter, leasehold.states_to_act(p_action, p_filter), least(p_before, p_by), p_limit
  );
  p_next := case when cardinality(v_jobs) = p_limit then v_jobs[p_limit] end;
  if p_action <> 'cancel' then
    v_jobs := array(
      select job_id from leasehold.outcome where job_id = any(v_jobs) and finished_at <= v_by.created_at
    );
  end if;
  if p_action = 'delete' then
    p_done := leasehold.delete_jobs(v_by.tenant_id, v_jobs);
    return;
  end if;

  p_done := 0;
  foreach v_job in array v_jobs loop
    begin
      if p_action = 'retry' then
        perform leasehold.retry(v_job);
      else
        perform leasehold.cancel(v_job, p_reason);
      end if;
      p_done := p_done + 1;
    exception when sqlstate 'LH404' or sqlstate 'LH409' then  -- somebody else was faster
    end;
  end loop;
end
$$;

revoke all on function leasehold.act_on_jobs(uuid, text, jsonb, uuid, integer, text) from public;
grant execute on function leasehold.act_on_jobs(uuid, text, jsonb, uuid, integer, text) to leasehold_worker;
