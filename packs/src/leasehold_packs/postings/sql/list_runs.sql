-- The newest runs first.
-- for: api, worker
create or replace function pack.list_runs(p_limit integer)
returns table (
  run_id uuid, asked_by text, state text, reason text, created_at timestamptz,
  finished_at timestamptz, sources bigint
)
language sql stable
as $$
  select r.run_id, r.asked_by, r.state, r.reason, r.created_at, r.finished_at,
    (select count(*) from pack.run_source s where s.run_id = r.run_id)
  from pack.run r
  order by r.created_at desc
  limit p_limit
$$;
