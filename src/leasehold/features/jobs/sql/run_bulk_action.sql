-- One piece of a bulk action of the current tenant, asked for by the job p_by: retry, cancel or delete the next jobs that
-- fit the filter (that of find_jobs). p_before is the p_next of the piece before, null at first; p_next is null after the last one.
--
-- Only jobs older than p_by are touched, and none that ended after it was asked for: an action that is begun again after a
-- crash passes over what it did, and a retried job that is dead once more stays so.
-- for: worker
-- settings: no jit
create or replace function leasehold.run_bulk_action(
  p_by uuid, p_action text, p_filter jsonb, p_before uuid, p_limit integer, p_reason text, out p_done integer, out p_next uuid
)
language plpgsql as $$
declare
  v_by   leasehold.job := leasehold.require_job(p_by);
  v_rest jsonb := p_filter - 'error' - 'fingerprint';
  v_jobs uuid[];
begin
  perform leasehold.check_filter(v_rest, p_limit);
  v_jobs := leasehold.match_jobs(
    v_by.tenant_id, v_rest, leasehold.actionable_states(p_action, p_filter), least(p_before, p_by), p_limit
  );
  p_next := case when cardinality(v_jobs) = p_limit then v_jobs[p_limit] end;
  v_jobs := leasehold.filter_by_error(v_jobs, p_filter);
  if p_action <> 'cancel' then
    v_jobs := array(
      select job_id from leasehold.outcome where job_id = any(v_jobs) and finished_at <= v_by.created_at
    );
  end if;
  p_done := case p_action
    when 'delete' then leasehold.delete_jobs(v_by.tenant_id, v_jobs)
    else leasehold.apply_action(p_action, v_jobs, p_reason)
  end;
end
$$;
