-- Write how these approvals ended, and tell their flows. Without an actor it was their time that ran out.
-- internal
create or replace function leasehold.end_approvals(p_rows leasehold.waiting[], p_approved boolean, p_actor text, p_note text) returns void
language plpgsql as $$
begin
  insert into leasehold.outcome (job_id, tenant_id, state, finished_at, result, error, seq)
  select w.job_id, w.tenant_id, case when p_approved then 'succeeded' else 'failed' end, leasehold.now(),
    case when p_approved then jsonb_build_object('approved', true, 'actor', p_actor, 'note', p_note) end,
    case when not p_approved then jsonb_build_object(
      'type', case when p_actor is null then 'Expired' else 'Rejected' end,
      'message', coalesce(p_note, case when p_actor is null then 'nobody decided in time' else 'rejected by ' || p_actor end),
      'actor', p_actor
    ) end,
    w.events + 1
  from unnest(p_rows) w;
  perform leasehold.update_flow_of_ended_jobs(array(select w.job_id from unnest(p_rows) w));
end
$$;
