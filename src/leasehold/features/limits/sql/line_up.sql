-- These new jobs of a group get their turns as in insert_jobs, and line up. Bells are placed for those that may start together,
-- and for the last: whatever their tenant asks for next comes after it. For the others rings whoever goes before them.
-- internal
-- settings: hot
create or replace function leasehold.line_up(
  p_jobs uuid[], p_tenants uuid[], p_lane integer, p_clock bigint, p_max_attempts smallint,
  p_group text, p_limit smallint, p_hold boolean, p_gated boolean
) returns void
language plpgsql as $$
begin
  with turn as materialized (
    select
      j.job_id, j.tenant_id, j.o, j.nth, j.n, t.pass + t.stride * j.nth as pass, leasehold.group_id(j.tenant_id, p_group) as group_id
    from leasehold.newest_turns(p_tenants, p_lane, p_clock) t join (
      select u.*, row_number() over (partition by tenant_id order by o) as nth, count(*) over (partition by tenant_id) as n
      from (
        select job_id, coalesce(tenant_id, p_tenants[1]) as tenant_id, o
        from unnest(p_jobs, p_tenants) with ordinality u(job_id, tenant_id, o)
      ) u
    ) j on j.tenant_id = t.tenant_id
  ),
  lined as (
    insert into leasehold.blocked (
      group_id, seq, job_id, tenant_id, lane, pass, attempt, max_attempts, events, group_limit, group_hold, gated
    )
    select
      group_id, nextval('leasehold.blocked_seq'), job_id, tenant_id, p_lane, pass, 0, p_max_attempts, 1, p_limit, p_hold, p_gated
    from (select * from turn order by o) t
  )
  insert into leasehold.ready (lane, pass, job_id, tenant_id, attempt, max_attempts, events, bound)
  select p_lane, pass, leasehold.bell(group_id), tenant_id, -1, 0, 0, true from turn where nth <= p_limit or nth = n;
end
$$;
