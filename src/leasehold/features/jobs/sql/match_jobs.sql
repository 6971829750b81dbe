-- The ids of a tenant's jobs that fit a filter and are in one of these states (null: in any), newest first. Of all tenants
-- where none is given, and all of them where there is no limit.
-- internal
-- settings: custom plan
create or replace function leasehold.match_jobs(p_tenant uuid, p_filter jsonb, p_states text[], p_before uuid, p_limit integer)
returns uuid[]
language plpgsql stable as $$
begin
  if p_limit is null and p_states <@ array['succeeded', 'failed', 'dead', 'canceled'] then
    return array(  -- to ask for the state of every job takes longer
      select j.job_id from leasehold.outcome o join leasehold.job j on j.job_id = o.job_id
      where o.state = any(p_states) and (p_tenant is null or o.tenant_id = p_tenant)
        and j.job_id < coalesce(p_before, 'ffffffff-ffff-ffff-ffff-ffffffffffff') and leasehold.matches_filter(j, p_filter)
      order by j.job_id desc
    );
  end if;
  if p_states is null or 'succeeded' = any(p_states) then
    return array(
      select j.job_id from leasehold.job j
      where (p_tenant is null or j.tenant_id = p_tenant) and j.job_id < coalesce(p_before, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
        and leasehold.matches_filter(j, p_filter)
        and (
          p_states is null
          or (select w.state from leasehold.whereabouts_at(j.job_id, j.queue, j.priority, j.pass, j.job_id, j.job_id) w) = any(p_states)
        )
      order by j.job_id desc
      limit p_limit
    );
  end if;
  -- A state that few jobs have is looked up where those jobs are, not by walking all of them.
  return array(
    select j.job_id
    from (
      select job_id from leasehold.lease where 'running' = any(p_states) and (p_tenant is null or tenant_id = p_tenant)
      union all select job_id from leasehold.ready where 'queued' = any(p_states) and (p_tenant is null or tenant_id = p_tenant) and attempt >= 0
      union all select job_id from leasehold.blocked where 'blocked' = any(p_states) and (p_tenant is null or tenant_id = p_tenant)
      union all select job_id from leasehold.gated where 'blocked' = any(p_states) and (p_tenant is null or tenant_id = p_tenant)
      union all select job_id from leasehold.waiting where 'blocked' = any(p_states) and (p_tenant is null or tenant_id = p_tenant) and what <> 'end'
      union all select job_id from leasehold.parked where 'queued' = any(p_states) and (p_tenant is null or tenant_id = p_tenant)
      union all select job_id from leasehold.deferred where 'scheduled' = any(p_states) and (p_tenant is null or tenant_id = p_tenant)
      union all select job_id from leasehold.outcome where (p_tenant is null or tenant_id = p_tenant) and state = any(p_states) and state <> 'succeeded'
    ) few
    join leasehold.job j on j.job_id = few.job_id
    where j.job_id < coalesce(p_before, 'ffffffff-ffff-ffff-ffff-ffffffffffff') and leasehold.matches_filter(j, p_filter)
    order by j.job_id desc
    limit p_limit
  );
end
$$;
