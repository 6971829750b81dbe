-- Parents of these steps (or ends of flows) have just ended. Those that wait for nobody any more are released: their row in
-- waiting is deleted, which only one transaction can do. Returns the steps that have ended by it.
--
-- Of the transactions that end the last parents at the same time, none sees what the others have deleted. So each looks
-- again after its own deletes, and what it finds decides:
--   a row that nobody is deleting (its xmax is zero)   its deleter comes, and looks, after us: nothing to do
--   none                                               we are the last: release
--   only rows that others are deleting just now        somebody has to look again when they are done: unsettled
-- The last to look finds no row of the first sort, so no step is forgotten. A row whose deleter was rolled back keeps its
-- xmax; then the step is looked at again until its parent has ended indeed. No locks are taken, and nobody waits.
-- internal
-- settings: hot
create or replace function leasehold.settle_steps(p_children uuid[]) returns uuid[]
language plpgsql as $$
declare
  v_free uuid[];
  v_gone leasehold.waiting[];
begin
  -- Parents mostly end in the order of their ids: from the other end, the first row of the index is one that is there.
  insert into leasehold.unsettled (child)
  select c from unnest(p_children) c
  where (select 1 from leasehold.dep d where d.child = c order by d.child desc, d.parent desc limit 1) is not null
    and (select 1 from leasehold.dep d where d.child = c and d.xmax = '0'::xid order by d.child desc, d.parent desc limit 1) is null;
  v_free := array(
    select c from unnest(p_children) c
    where (select 1 from leasehold.dep d where d.child = c order by d.child desc, d.parent desc limit 1) is null
  );
  if v_free = '{}' then
    return '{}';
  end if;
  with gone as (
    delete from leasehold.waiting w where w.job_id = any(array(
      select f.job_id from leasehold.waiting f
      where f.job_id = any(v_free) and f.what in ('parents', 'end') for update skip locked
    )) returning w.*
  )
  select array_agg(row(gone.*)::leasehold.waiting) into v_gone from gone;
  insert into leasehold.unsettled (child)  -- somebody is about to cancel it, or releases it as we do
  select w.job_id from leasehold.waiting w where w.job_id = any(v_free) and w.what in ('parents', 'end');
  if v_gone is null then
    return '{}';
  end if;
  perform leasehold.end_flows(array(select g.job_id from unnest(v_gone) g where g.what = 'end'));
  return leasehold.release_steps(array(select g from unnest(v_gone) g where g.what = 'parents'));
end
$$;
