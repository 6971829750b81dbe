-- End a run that is running; false if it is over already.
-- for: api, worker
create or replace function pack.stop_run(p_run uuid, p_state text, p_reason text) returns boolean
language plpgsql
as $$
begin
  update pack.run set state = p_state, reason = p_reason, finished_at = leasehold.now() where run_id = p_run and state = 'running';
  if not found then
    return false;
  end if;
  perform pack.add_event(p_run, 'status_changed', p_state, p_reason, jsonb_build_object('state', p_state));
  return true;
end
$$;
