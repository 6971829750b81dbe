-- The turn of each of these new jobs in a lane: a tenant's are one stride apart, after the newest one that it has waiting.
-- internal
-- settings: inherited
create or replace function leasehold.next_turns(p_tenants uuid[], p_jobs uuid[], p_lane integer, p_clock bigint) returns bigint[]
language plpgsql as $$
begin
  return array(
    select t.pass + t.stride * j.nth
    from leasehold.newest_turns(p_tenants, p_lane, p_clock) t join (
      select tenant_id, o, row_number() over (partition by tenant_id order by o) as nth
      from (
        select coalesce(tenant_id, p_tenants[1]) as tenant_id, o from unnest(p_tenants, p_jobs) with ordinality u(tenant_id, job_id, o)
      ) u
    ) j on j.tenant_id = t.tenant_id
    order by j.o
  );
end
$$;
