-- The newest jobs of the current tenant, newest first; p_before is the last id of the page before.
-- Filter: state, kind, queue, tag, key, created_after, created_before.
-- for: api, worker, readonly
create or replace function leasehold.list_jobs(p_filter jsonb default '{}', p_before uuid default null, p_limit integer default 50)
returns setof leasehold.job_view
language plpgsql stable as $$
declare
  v_tenant uuid := leasehold.current_tenant();
  v_states text[];
begin
  perform leasehold.check_filter(p_filter, p_limit);
  v_states := case when p_filter ? 'state' then array[p_filter ->> 'state'] end;
  return query select * from leasehold.view_jobs(v_tenant, leasehold.match_jobs(v_tenant, p_filter, v_states, p_before, p_limit));
end
$$;
