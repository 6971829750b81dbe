-- End an approval of the current tenant that waits: succeeded when it is approved, failed when it is rejected. Logged.
create or replace function leasehold.decide(p_job uuid, p_approved boolean, p_note text) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set jit = off
as $$
declare
  v_tenant uuid := (leasehold.own_job(p_job)).tenant_id;
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

revoke all on function leasehold.decide(uuid, boolean, text) from public;
