-- The newest jobs of the current tenant, newest first; p_before is the last id of the page before.
-- p_briefly: without results and large payloads. Filter: state, kind, queue, tag, key, created_after,
-- created_before.
-- for: api, worker, readonly
create or replace function leasehold.list_jobs(
  p_filter jsonb default '{}', p_before uuid default null, p_limit integer default 50,
  p_briefly boolean default false
)
returns setof leasehold.job_view
language plpgsql stable as $$
declare
  v_tenant uuid := leasehold.current_tenant();
  v_states text[];
  v_jobs   uuid[];
begin
  perform leasehold.check_filter(p_filter, p_limit);
  v_states := case when p_filter ? 'state' then array[p_filter ->> 'state'] end;
  v_jobs := leasehold.match_jobs(v_tenant, p_filter, v_states, p_before, p_limit);
  return query select * from leasehold.view_jobs(v_tenant, v_jobs, p_briefly);
end
$$;
