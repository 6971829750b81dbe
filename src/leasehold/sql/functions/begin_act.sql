-- Ask for a bulk action of the current tenant: the job that will do it, after a delay if there is to be time to think again.
-- Logged, for that job does not know who asked.
create or replace function leasehold.begin_act(
  p_action text, p_filter jsonb, p_reason text default null, p_delay_s real default 0
) returns setof leasehold.enqueued
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_order jsonb := jsonb_build_object('action', p_action, 'filter', p_filter, 'reason', p_reason);
  v_made  leasehold.enqueued;
begin
  perform leasehold.count_to_act(p_action, p_filter, 1);  -- what is wrong with it is said here, and not by a failed job
  select * into v_made from leasehold.enqueue('jobs.act', array[v_order], jsonb_build_object('delay_s', p_delay_s));
  perform leasehold.log_action(leasehold.current_tenant(), 'jobs.act', v_made.job_id::text, v_order);
  return next v_made;
end
$$;

revoke all on function leasehold.begin_act(text, jsonb, text, real) from public;
grant execute on function leasehold.begin_act(text, jsonb, text, real) to leasehold_api, leasehold_worker;
