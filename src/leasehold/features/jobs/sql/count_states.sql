-- How many jobs are in each state that any is in, counted up to a bound; for a tenant its own, for the operator all. Successes are not
-- counted: they are most of all jobs, and stat has them by minute.
-- for: api, operator
-- settings: read
create or replace function leasehold.count_states(p_bound integer default 500) returns table (state text, n bigint)
language plpgsql stable as $$
#variable_conflict use_column
declare
  v_tenant uuid := leasehold.tenant_filter();
begin
  return query
    with counted as materialized (  -- else every count would be made twice
      select s, cardinality(leasehold.waiting_ids(v_tenant, s, p_bound))::bigint as n
      from unnest(array['running', 'queued', 'scheduled', 'blocked']) s
      union all
      select s, (
        select count(*) from (
          select from leasehold.outcome o
          where o.state = s and o.state <> 'succeeded' and (v_tenant is null or o.tenant_id = v_tenant)
          order by o.job_id desc  -- which names the index to walk
          limit p_bound
        ) o
      )
      from unnest(array['failed', 'dead', 'canceled']) s
    )
    select * from counted where n > 0;
end
$$;
