-- These jobs have ended, and their outcomes are written. Whatever waited for them is told: it runs, or it does not and ends as
-- well, and so on. Jobs that are no steps of flows are none of its business.
-- internal
-- settings: ordered
create or replace function leasehold.update_flow_of_ended_jobs(p_jobs uuid[]) returns void
language plpgsql as $$
declare
  v_now      timestamptz := leasehold.now();
  v_failed   uuid[];
  v_gone     leasehold.dep[];
begin
  while exists (select from leasehold.step where job_id = any(p_jobs)) loop
    insert into leasehold.news (flow_id, tenant_id, type, data, at)
    select flow_id, tenant_id, 'progress', jsonb_build_object('ended', count(*)), v_now
    from leasehold.step where job_id = any(p_jobs) group by flow_id, tenant_id;

    with gone as (delete from leasehold.dep where parent = any(p_jobs) returning parent, child, on_failure)
    select coalesce(array_agg(row(parent, child, on_failure)::leasehold.dep), '{}') into v_gone from gone;
    v_failed := array(select job_id from leasehold.outcome where job_id = any(p_jobs) and state <> 'succeeded');
    if v_failed <> '{}' then
      perform leasehold.pass_on_failures(array(select d from unnest(v_gone) d where d.parent in (select unnest(v_failed))));
    end if;
    p_jobs := leasehold.settle_steps(array(select distinct d.child from unnest(v_gone) d));
  end loop;
end
$$;
