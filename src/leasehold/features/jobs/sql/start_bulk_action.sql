-- Select the jobs of the current tenant that a bulk action applies to now, and ask for it: the job that will do it. For programs
-- of the release before; others call select_jobs and begin_selected.
create or replace function leasehold.begin_act(
  p_action text, p_filter jsonb, p_reason text default null, p_delay_s real default 0
) returns setof leasehold.enqueued
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select b.job_id, b.state, b.created from leasehold.select_jobs(p_action, p_filter) s
    cross join lateral leasehold.begin_selected(s.selection_id, p_reason, p_delay_s) b;
end
$$;

revoke all on function leasehold.begin_act(text, jsonb, text, real) from public;
grant execute on function leasehold.begin_act(text, jsonb, text, real) to leasehold_api, leasehold_worker;
