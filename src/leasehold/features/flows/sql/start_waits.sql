-- Steps among these that are not for a worker begin to wait for a person, a signal or a time. Returns those whose signal was
-- there already: they have ended.
-- internal
-- settings: ordered
create or replace function leasehold.start_waits(p_rows leasehold.waiting[]) returns uuid[]
language plpgsql as $$
declare
  v_now  timestamptz := leasehold.now();
  v_jobs uuid[] := array(select w.job_id from unnest(p_rows) w);
begin
  insert into leasehold.waiting (job_id, tenant_id, lane, attempt, max_attempts, events, what, since, until, signal, key)
  select
    w.job_id, w.tenant_id, w.lane, w.attempt, w.max_attempts, w.events, s.what, v_now,
    coalesce((s.wait ->> 'until')::timestamptz, v_now + make_interval(secs => (s.wait ->> 'seconds')::double precision)),
    s.wait ->> 'signal', case when s.what = 'signal' then coalesce(s.wait ->> 'key', s.flow_id::text) end
  from unnest(p_rows) w join leasehold.step s on s.job_id = w.job_id
  where s.what in ('approval', 'signal', 'sleep');

  insert into leasehold.news (flow_id, tenant_id, type, message, data, at)
  select s.flow_id, s.tenant_id, 'waiting', s.name, jsonb_strip_nulls(jsonb_build_object('job_id', s.job_id, 'for', s.what, 'until', w.until)), v_now
  from leasehold.step s join leasehold.waiting w on w.job_id = s.job_id where s.job_id = any(v_jobs) and s.what <> 'job';
  return leasehold.deliver_signals(v_jobs);
end
$$;
