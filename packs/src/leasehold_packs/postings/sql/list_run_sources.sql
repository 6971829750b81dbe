-- The sources of a run, and what it found there.
-- for: api, worker
create or replace function pack.list_run_sources(p_run uuid)
returns table (
  source_id uuid, company text, board text, state text, pages integer, complete boolean, rung text,
  counts jsonb, problem text, finished_at timestamptz
)
language sql stable
as $$
  select r.source_id, c.name, s.board, r.state, r.pages, r.complete, r.rung, r.counts, r.problem,
    r.finished_at
  from pack.run_source r
  join pack.source s using (source_id)
  join pack.company c using (company_id)
  where r.run_id = p_run
  order by c.name, r.source_id
$$;
