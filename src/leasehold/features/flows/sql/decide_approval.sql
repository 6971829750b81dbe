-- End an approval of the current tenant that waits: succeeded when it is approved, failed when it is rejected. Logged.
-- internal
-- settings: index
create or replace function leasehold.decide_approval(p_job uuid, p_approved boolean, p_note text) returns text
language plpgsql as $$
declare
  v_tenant uuid := (leasehold.require_job(p_job)).tenant_id;
  v_step   leasehold.waiting;
begin
  delete from leasehold.waiting where job_id = p_job and tenant_id = v_tenant and what = 'approval' returning * into v_step;
  if not found then
    raise exception 'job % is no approval that waits: it is %', p_job, leasehold.state_of(p_job)
      using errcode = 'LH409', hint = 'leasehold approvals list';
  end if;
  perform leasehold.log_action(
    v_tenant, case when p_approved then 'approval.approve' else 'approval.reject' end, p_job::text, jsonb_build_object('note', p_note)
  );
  perform leasehold.end_approvals(array[v_step], p_approved, leasehold.actor(), p_note);
  return leasehold.state_of(p_job);
end
$$;
