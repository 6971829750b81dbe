-- What waits for a person of the current tenant, the oldest first; p_after is the last one of the page before.
create or replace function leasehold.list_approvals(p_after uuid default null, p_limit integer default 100)
returns setof leasehold.approval_view
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select w.job_id, f.flow_id, f.name, s.name, coalesce(j.payload, leasehold.get_json(j.tenant_id, j.payload_ref)),
    w.since, w.until, coalesce(s.wait ->> 'by_default', 'reject')
  from leasehold.waiting w
  join leasehold.step s on s.job_id = w.job_id
  join leasehold.flow f on f.flow_id = s.flow_id
  join leasehold.job j on j.job_id = w.job_id
  where w.tenant_id = leasehold.current_tenant() and w.what = 'approval'
    and w.job_id > coalesce(p_after, '00000000-0000-0000-0000-000000000000')
  order by w.job_id limit least(greatest(p_limit, 1), 1000)
$$;

revoke all on function leasehold.list_approvals(uuid, integer) from public;
grant execute on function leasehold.list_approvals(uuid, integer) to leasehold_api, leasehold_worker, leasehold_readonly;
