-- Note an event. What has a step is said once in each part of a run; warnings and errors of pages have a limit.
-- for: api, worker
create or replace function pack.add_event(
  p_run uuid, p_type text, p_step text, p_message text, p_data jsonb default null, p_progress integer default 0
) returns void
language plpgsql
as $$
declare
  v_run pack.run;
begin
  select * into v_run from pack.run where run_id = p_run for no key update;
  if p_step is not null and p_type <> 'metric' and exists (
    select from pack.event e
    where e.run_id = p_run and e.part = v_run.part and e.type = p_type and e.step = p_step
  ) then
    return;
  end if;
  if p_step is null and (
    select count(*) from pack.event e where e.run_id = p_run and e.type in ('warning', 'error')
  ) >= 500 then
    return;
  end if;
  update pack.run set seq = seq + 1, progress = greatest(progress, p_progress) where run_id = p_run returning * into v_run;
  insert into pack.event (run_id, seq, tenant_id, part, type, step, message, data, progress)
  values (p_run, v_run.seq, v_run.tenant_id, v_run.part, p_type, p_step, left(p_message, 1000), p_data, v_run.progress);
end
$$;
