-- A source as the requests of a run need it; no row when the run is over.
-- for: worker
create or replace function pack.get_running_source(p_run uuid, p_source uuid)
returns table (
  board text, slug text, base text, host text, options jsonb, details text, created_at timestamptz
)
language sql stable
as $$
  select s.board, s.slug, s.base, s.host, s.options, r.details, r.created_at
  from pack.run r
  join pack.run_source using (run_id)
  join pack.source s using (source_id)
  where run_id = p_run and source_id = p_source and r.state = 'running'
$$;
