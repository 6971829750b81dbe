-- Ask for the bulk action on what select_jobs selected for the current tenant: the job that will do it, after a delay if there
-- is to be time to think again. A selection that was begun gives the job that it has, with created = false. Logged, for that
-- job does not know who asked.
-- for: api, worker
create or replace function leasehold.start_selected_action(p_selection uuid, p_reason text default null, p_delay_s real default 0)
returns table (job_id uuid, state text, created boolean, count integer)
language plpgsql as $$
#variable_conflict use_column
declare
  v_selection leasehold.selection;
  v_order     jsonb;
  v_made      record;
begin
  select * into v_selection from leasehold.selection
  where selection_id = p_selection and tenant_id = leasehold.current_tenant() for update;
  if not found then
    raise exception 'there is no selection %', p_selection
      using errcode = 'LH404', hint = 'one that is not begun within an hour is removed: select the jobs again';
  end if;
  if v_selection.job_id is not null then
    return query select v_selection.job_id, leasehold.state_of(v_selection.job_id), false, v_selection.n;
    return;
  end if;
  v_order := jsonb_build_object(
    'action', v_selection.action, 'filter', v_selection.filter, 'reason', p_reason,
    'selection', p_selection, 'count', v_selection.n
  );
  -- Workers of the release before know version 1, which named no selection: they leave this job to newer ones.
  select job_ids[1] as job_id, states[1] as state, created[1] as created into v_made
  from leasehold.enqueue('jobs.act', array[v_order], jsonb_build_object('delay_s', p_delay_s, 'version', 2));
  update leasehold.selection set job_id = v_made.job_id where selection_id = p_selection;
  perform leasehold.log_action(leasehold.current_tenant(), 'jobs.act', v_made.job_id::text, v_order);
  return query select v_made.job_id, v_made.state, v_made.created, v_selection.n;
end
$$;
