-- What waits for a person, the oldest first: of the tenant, or of all for the operator; p_after is the last one of the page
-- before.
-- for: api, worker, operator, readonly
-- settings: read
create or replace function leasehold.list_approvals(p_after uuid default null, p_limit integer default 100)
returns table (
  job_id uuid, flow_id uuid, flow text, name text, payload jsonb, asked_at timestamptz,
  expires_at timestamptz, by_default text, tenant_id uuid
)
language plpgsql stable as $$
#variable_conflict use_column
declare
  v_tenant uuid := leasehold.tenant_filter();
begin
  return query
    select w.job_id, f.flow_id, f.name, s.name, coalesce(j.payload, leasehold.get_json(j.tenant_id, j.payload_ref)),
      w.since, w.until, coalesce(s.wait ->> 'by_default', 'reject'), w.tenant_id
    from (
      select * from leasehold.waiting w
      where (v_tenant is null or w.tenant_id = v_tenant) and w.what = 'approval'
        and w.job_id > coalesce(p_after, '00000000-0000-0000-0000-000000000000')
      order by w.job_id limit least(greatest(p_limit, 1), 1000)
    ) w
    join leasehold.step s on s.job_id = w.job_id
    join leasehold.flow f on f.flow_id = s.flow_id
    join leasehold.job j on j.job_id = w.job_id
    order by w.job_id;
end
$$;
