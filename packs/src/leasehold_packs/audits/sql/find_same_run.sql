-- The newest run of the same request that is running, or that has succeeded within the window.
-- for: api, worker
create or replace function pack.find_same_run(p_fingerprint text, p_window interval) returns uuid
language sql stable
as $$
  select r.run_id
  from pack.run r
  where r.fingerprint = p_fingerprint
    and (r.state = 'running' or r.state = 'succeeded' and r.created_at > leasehold.now() - p_window)
  order by r.created_at desc
  limit 1
$$;
