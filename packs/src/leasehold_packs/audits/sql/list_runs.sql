-- The newest runs first, of one site or of all, without their reports.
-- for: api, worker
create or replace function pack.list_runs(p_site uuid, p_limit integer)
returns table (
  run_id uuid, site_id uuid, url text, state text, reason text, pages integer, score double precision,
  created_at timestamptz, finished_at timestamptz, progress integer, reread_of uuid
)
language sql stable
as $$
  select r.run_id, r.site_id, s.url, r.state, r.reason, r.pages, r.score::float8,
    r.created_at, r.finished_at, r.progress, r.reread_of
  from pack.run r
  join pack.site s using (site_id)
  where p_site is null or r.site_id = p_site
  order by r.created_at desc
  limit p_limit
$$;
