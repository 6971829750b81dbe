-- The newest jobs of the current tenant, newest first; p_before is the last id of the page before.
-- Filter: state, kind, queue, tag, key, created_after, created_before.
create or replace function leasehold.list_jobs(p_filter jsonb default '{}', p_before uuid default null, p_limit integer default 50)
returns setof leasehold.job_view
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
  v_tenant uuid := leasehold.current_tenant();
  v_state  text := p_filter ->> 'state';
  v_jobs   uuid[];
begin
  perform leasehold.check_filter(p_filter, p_limit);
  if v_state is null or v_state = 'succeeded' then
    v_jobs := array(
      select j.job_id from leasehold.job j
      where j.tenant_id = v_tenant and j.job_id < coalesce(p_before, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
        and leasehold.matches(j, p_filter)
        and (v_state is null or leasehold.state_of(j.job_id) = 'succeeded')
      order by j.job_id desc
      limit p_limit
    );
  else
    -- A state that few jobs have is looked up where those jobs are, not by walking all of them.
    v_jobs := array(
      select j.job_id
      from (
        select job_id from leasehold.lease where v_state = 'running' and tenant_id = v_tenant
        union all select job_id from leasehold.ready where v_state = 'queued' and tenant_id = v_tenant and attempt >= 0
        union all select job_id from leasehold.blocked where v_state = 'blocked' and tenant_id = v_tenant
        union all select job_id from leasehold.parked where v_state = 'queued' and tenant_id = v_tenant
        union all select job_id from leasehold.deferred where v_state = 'scheduled' and tenant_id = v_tenant
        union all select job_id from leasehold.outcome where tenant_id = v_tenant and state = v_state and state <> 'succeeded'
      ) few
      join leasehold.job j on j.job_id = few.job_id
      where j.job_id < coalesce(p_before, 'ffffffff-ffff-ffff-ffff-ffffffffffff') and leasehold.matches(j, p_filter)
      order by j.job_id desc
      limit p_limit
    );
  end if;
  return query select * from leasehold.view_jobs(v_tenant, v_jobs);
end
$$;

revoke all on function leasehold.list_jobs(jsonb, uuid, integer) from public;
grant execute on function leasehold.list_jobs(jsonb, uuid, integer) to leasehold_api, leasehold_worker, leasehold_readonly;
