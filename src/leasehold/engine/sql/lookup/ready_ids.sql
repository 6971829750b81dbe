-- Jobs that are ready, in the order of their turns, at most so many of each lane; of all tenants where none is given.
-- The order names the index to walk: another one might meet the rows of all the others first.
-- internal
create or replace function leasehold.ready_ids(p_tenant uuid, p_most integer) returns uuid[]
language sql stable as $$
  select case
    when p_tenant is null then array(
      select r.job_id
      from leasehold.lane l
      cross join lateral (
        select job_id from leasehold.ready where lane = l.lane and attempt >= 0 order by pass limit p_most
      ) r
    )
    else array(
      select r.job_id
      from leasehold.lane l
      cross join lateral (
        select job_id from leasehold.ready
        where lane = l.lane and attempt >= 0
          and (tenant_id, pass) >= (p_tenant, 0) and (tenant_id, pass) <= (p_tenant, 9223372036854775807)
        order by tenant_id, pass nulls first
        limit p_most
      ) r
    )
  end
$$;
