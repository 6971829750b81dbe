-- The newest jobs that match, newest first: one row with their ids and how far was looked, or none. Whatever is asked for,
-- at most p_window jobs are looked at: where looked_to is not null there may be more before it, and it is the p_before of
-- the next call.
-- Filter: as for list_jobs; and fingerprint or error (a part of its text), which only failed and dead jobs have; and payload,
-- an object of paths and the text that stands there ({"order.id": "4711"}; payloads that are kept as bodies are not read).
-- For a tenant its own jobs, for the operator all.
-- for: api, operator
-- settings: read
create or replace function leasehold.find_jobs(
  p_filter jsonb default '{}', p_before uuid default null, p_limit integer default 50, p_window integer default 1000
) returns table (jobs uuid[], looked_to uuid)
language plpgsql stable as $$
declare
  v_tenant uuid := leasehold.tenant_filter();
  v_rest   jsonb := p_filter - 'error' - 'fingerprint' - 'payload';
  v_values jsonb := p_filter -> 'payload';
  v_state  text := p_filter ->> 'state';
  v_before uuid := coalesce(p_before, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  v_some   uuid[];
begin
  perform leasehold.check_filter(v_rest, p_limit);
  if p_filter ?| array['error', 'fingerprint'] then
    select array_agg(j.job_id), array_agg(j.job_id order by j.job_id desc) filter (
      where (v_state is null or f.state = v_state)
        and (not p_filter ? 'fingerprint' or f.fingerprint = p_filter ->> 'fingerprint')
        and (not p_filter ? 'error' or position(lower(p_filter ->> 'error') in lower(f.error::text)) > 0)
        and leasehold.matches_filter(j, v_rest) and leasehold.has_filter_values(j.payload, v_values)
    )
    into v_some, jobs
    from leasehold.newest_failures(v_tenant, v_before, p_window) f join leasehold.job j on j.job_id = f.job_id;
    jobs := coalesce(jobs[1:p_limit], '{}');
  elsif v_state in ('failed', 'dead', 'canceled') then
    v_some := array(
      select o.job_id from leasehold.outcome o
      where o.state = v_state and o.state <> 'succeeded' and o.job_id < v_before
        and (v_tenant is null or o.tenant_id = v_tenant)
      order by o.job_id desc
      limit p_window
    );
  elsif v_state is not null and v_state <> 'succeeded' then
    v_some := leasehold.waiting_ids(v_tenant, v_state, p_window + 1);
    if cardinality(v_some) > p_window then
      v_some := null;  -- most jobs are in this state, so a walk meets them
    end if;
  end if;

  if jobs is not null then
    null;
  elsif v_some is not null then
    jobs := array(
      select j.job_id from leasehold.job j
      where j.job_id = any(v_some) and j.job_id < v_before and leasehold.matches_filter(j, v_rest) and leasehold.has_filter_values(j.payload, v_values)
      order by j.job_id desc
      limit p_limit
    );
  else
    v_some := array(
      select j.job_id from leasehold.job j
      where j.job_id < v_before and (v_tenant is null or j.tenant_id = v_tenant)
      order by j.job_id desc
      limit p_window
    );
    jobs := array(
      select j.job_id from leasehold.job j
      where j.job_id = any(v_some) and leasehold.matches_filter(j, v_rest) and leasehold.has_filter_values(j.payload, v_values)
        and (
          v_state is null
          or (select w.state from leasehold.whereabouts_at(j.job_id, j.queue, j.priority, j.pass, j.job_id, j.job_id) w) = v_state
        )
      order by j.job_id desc
      limit p_limit
    );
  end if;

  looked_to := case
    when cardinality(jobs) = p_limit then jobs[p_limit]
    when cardinality(v_some) = p_window then (select id from unnest(v_some) id order by id limit 1)
  end;
  if cardinality(jobs) > 0 or looked_to is not null then
    return next;
  end if;
end
$$;
