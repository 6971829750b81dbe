-- End a run when all its sources have ended, and forget runs of a month ago. False when it was over
-- already.
-- for: worker
create or replace function pack.finish_run(p_run uuid, p_state text, p_reason text) returns boolean
language plpgsql
as $$
begin
  if not pack.stop_run(p_run, 'failed', p_reason) then
    return false;
  end if;
  update pack.run set state = p_state where run_id = p_run;
  delete from pack.run where finished_at < leasehold.now() - interval '30 days';
  return true;
end
$$;
