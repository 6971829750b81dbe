-- p_ended: jobs that have an outcome now. p_tokens: attempts that have ended, and p_jobs their jobs.
-- All have a group, a gate or a flow.
-- internal
-- settings: inherited
create or replace function leasehold.after_finish(p_ended uuid[], p_jobs uuid[], p_tokens bigint[])
returns void
language plpgsql as $$
begin
  if p_ended <> '{}' then
    perform leasehold.update_flow_of_ended_jobs(p_ended);
  end if;
  if p_tokens <> '{}' then
    perform leasehold.tell_gates(p_jobs, p_tokens);
  end if;
end
$$;
