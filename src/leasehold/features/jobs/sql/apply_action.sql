-- Retry or cancel those of these jobs of the current tenant that are in a state for it; how many. Each is logged.
-- for: api
-- settings: no jit
create or replace function leasehold.apply_action(p_action text, p_jobs uuid[], p_reason text default null) returns integer
language plpgsql as $$
declare
  v_job  uuid;
  v_done integer := 0;
begin
  if p_action is null or p_action not in ('retry', 'cancel') then
    raise exception 'there is no action %', quote_nullable(p_action) using errcode = 'LH400', hint = 'actions: retry, cancel';
  end if;
  foreach v_job in array array(select unnest(p_jobs) order by 1) loop  -- two callers take the jobs in one order
    begin
      if p_action = 'retry' then
        perform leasehold.retry(v_job);
        v_done := v_done + 1;
      elsif not exists (select from leasehold.outcome where job_id = v_job)
        and leasehold.cancel(v_job, p_reason) in ('canceled', 'requested')
      then
        v_done := v_done + 1;
      end if;
    exception when sqlstate 'LH404' or sqlstate 'LH409' then  -- another tenant's, or somebody else was faster
    end;
  end loop;
  return v_done;
end
$$;
