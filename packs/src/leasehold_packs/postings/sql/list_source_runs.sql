-- What the newest runs found at one source; one that goes on comes first.
-- for: api, worker
create or replace function pack.list_source_runs(p_source uuid, p_limit integer)
returns table (
  run_id uuid, state text, pages integer, complete boolean, counts jsonb, problem text,
  finished_at timestamptz
)
language sql stable
as $$
  select run_id, state, pages, complete, counts, problem, finished_at from pack.run_source
  where source_id = p_source
  order by finished_at desc nulls first
  limit p_limit
$$;
