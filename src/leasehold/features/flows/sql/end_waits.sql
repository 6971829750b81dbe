-- End the waits whose time is over: a sleep has succeeded, a signal has not come, an approval is what it is by default.
-- internal
-- settings: index
create or replace function leasehold.end_waits() returns integer
language plpgsql as $$
declare
  v_now  timestamptz := leasehold.now();
  v_gone leasehold.waiting[];
begin
  with due as (
    delete from leasehold.waiting where job_id = any(array(
      select job_id from leasehold.waiting where until <= v_now order by until limit 1000 for update skip locked
    )) returning *
  )
  select array_agg(row(due.*)::leasehold.waiting) into v_gone from due;
  if v_gone is null then
    return 0;
  end if;
  insert into leasehold.outcome (job_id, tenant_id, state, finished_at, error, seq)
  select job_id, tenant_id, case what when 'sleep' then 'succeeded' else 'failed' end, v_now,
    case when what = 'signal' then jsonb_build_object('type', 'TimedOut', 'message', format('signal %s did not come', signal)) end, events + 1
  from unnest(v_gone) where what <> 'approval';
  perform leasehold.update_flow_of_ended_jobs(array(select job_id from unnest(v_gone) where what <> 'approval'));

  perform leasehold.end_approvals(array_agg(w), approved, null, null)
  from (
    select w, coalesce(s.wait ->> 'by_default', 'reject') = 'approve' as approved
    from unnest(v_gone) w join leasehold.step s on s.job_id = w.job_id where w.what = 'approval'
  ) a group by approved;
  return cardinality(v_gone);
end
$$;
