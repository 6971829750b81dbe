-- Those of these jobs in ready that have a group and no place in it line up, in the order given; what
-- stays in the lane, at their turn, is a bell.
-- internal
create or replace function leasehold.line_up_due_jobs(p_jobs uuid[]) returns void
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
set enable_mergejoin = off set enable_indexscan = on set jit = off
as $$
begin
  with grouped as materialized (
    select u.o, j.job_id, leasehold.group_id(j.tenant_id, j.group_key) as group_id, j.group_limit,
      j.group_hold, j.gate is not null or j.group_gap_s is not null as gated
    from unnest(p_jobs) with ordinality u(job_id, o) join leasehold.job j on j.job_id = u.job_id
    where j.group_key is not null
      and not exists (select from leasehold.place p where p.job_id = j.job_id)
  ),
  gone as (
    delete from leasehold.ready
    where job_id = any(array(select job_id from grouped)) and not placed
    returning job_id, tenant_id, lane, pass, attempt, max_attempts, events
  ),
  lined as materialized (select * from gone join grouped using (job_id)),
  blocked as (
    insert into leasehold.blocked (
      group_id, seq, job_id, tenant_id, lane, pass, attempt, max_attempts, events,
      group_limit, group_hold, gated
    )
    select
      group_id, nextval('leasehold.blocked_seq'), job_id, tenant_id, lane, pass, attempt,
      max_attempts, events, group_limit, group_hold, gated
    from (select * from lined order by o) l
  )
  insert into leasehold.ready (
    lane, pass, job_id, tenant_id, attempt, max_attempts, events, bound
  )
  select lane, pass, leasehold.bell(group_id), tenant_id, -1, 0, 0, true from lined;
end
$$;
