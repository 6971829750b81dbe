-- Select the jobs of the current tenant that a bulk action applies to now, and ask for it: the job that will do it. For programs
-- of the release before; others call select_jobs and start_selected_action.
-- for: api, worker
create or replace function leasehold.start_bulk_action(
  p_action text, p_filter jsonb, p_reason text default null, p_delay_s real default 0
) returns setof leasehold.enqueued
language plpgsql as $$
begin
  return query
    select b.job_id, b.state, b.created from leasehold.select_jobs(p_action, p_filter) s
    cross join lateral leasehold.start_selected_action(s.selection_id, p_reason, p_delay_s) b;
end
$$;
