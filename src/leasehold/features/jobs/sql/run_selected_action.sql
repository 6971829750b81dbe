-- One piece of the bulk action of the current tenant that the job p_by carries out: retry, cancel or delete the next of its
-- selected jobs. Those that are in another state since they were selected, or gone, are left alone and counted as changed. The
-- piece is removed with the act, so an attempt that comes after a crash goes on where the last one stopped.
--
-- The row returned is the selection as it is then; p_rest tells whether another piece is left.
-- for: worker
-- settings: no jit
create or replace function leasehold.run_selected_action(
  p_by uuid, p_reason text default null, out p_count integer, out p_done integer, out p_changed integer, out p_rest boolean
)
language plpgsql as $$
declare
  v_selection leasehold.selection;
  v_selected  leasehold.selected;
  v_jobs      uuid[];
  v_done      integer;
begin
  select * into v_selection from leasehold.selection
  where job_id = p_by and tenant_id = leasehold.current_tenant() for update;
  if not found then
    raise exception 'no jobs were selected for job %', p_by
      using errcode = 'LH404', hint = 'ask for it with `leasehold jobs retry`, `cancel` or `delete`, or POST /v1/jobs:act';
  end if;
  select * into v_selected from leasehold.selected
  where selection_id = v_selection.selection_id order by piece limit 1;
  if found then
    if v_selection.action = 'cancel' then
      v_jobs := array(
        select j.job_id from leasehold.job j
        where j.job_id = any(v_selected.jobs)
          and (select w.state from leasehold.whereabouts_at(j.job_id, j.queue, j.priority, j.pass, j.job_id, j.job_id) w)
            = any(leasehold.actionable_states(v_selection.action, v_selection.filter))
      );
    else
      v_jobs := array(
        select o.job_id from leasehold.outcome o
        where o.job_id = any(v_selected.jobs) and o.finished_at <= v_selection.selected_at
      );
    end if;
    v_done := case v_selection.action
      when 'delete' then leasehold.delete_jobs(v_selection.tenant_id, v_jobs)
      else leasehold.apply_action(v_selection.action, v_jobs, p_reason)
    end;
    delete from leasehold.selected where selection_id = v_selected.selection_id and piece = v_selected.piece;
    update leasehold.selection
    set done = done + v_done, changed = changed + cardinality(v_selected.jobs) - v_done
    where selection_id = v_selection.selection_id
    returning * into v_selection;
  end if;
  p_count := v_selection.n;
  p_done := v_selection.done;
  p_changed := v_selection.changed;
  p_rest := exists (select from leasehold.selected where selection_id = v_selection.selection_id);
end
$$;
