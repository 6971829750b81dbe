-- Jobs that are in this state and have not ended, at most so many, in no order; of all tenants where none is given.
-- internal
-- settings: custom plan
create or replace function leasehold.waiting_ids(p_tenant uuid, p_state text, p_most integer) returns uuid[]
language plpgsql stable as $$
begin
  return case p_state
    when 'running' then array(
      select job_id from leasehold.lease where p_tenant is null or tenant_id = p_tenant limit p_most
    )
    when 'scheduled' then array(
      select job_id from leasehold.deferred where p_tenant is null or tenant_id = p_tenant limit p_most
    )
    when 'blocked' then array(
      select job_id
      from (
        select job_id from leasehold.blocked where p_tenant is null or tenant_id = p_tenant
        union all
        select job_id from leasehold.gated where p_tenant is null or tenant_id = p_tenant
        union all
        select job_id from leasehold.waiting where what <> 'end' and (p_tenant is null or tenant_id = p_tenant)
      ) waiting
      limit p_most
    )
    when 'queued' then array(
      select job_id
      from (
        select job_id from unnest(leasehold.ready_ids(p_tenant, p_most)) job_id
        union all
        select job_id from leasehold.parked where p_tenant is null or tenant_id = p_tenant
      ) waiting
      limit p_most
    )
  end;
end
$$;
