-- A search as its pages need it.
-- for: worker
create or replace function pack.load_search(p_search uuid)
returns table (
  site_id uuid, options jsonb, created_at timestamptz, finished_at timestamptz, url text, settings jsonb
)
language sql stable
as $$
  select e.site_id, e.options, e.created_at, e.finished_at, s.url, s.settings
  from pack.search e
  join pack.site s using (site_id)
  where e.search_id = p_search
$$;
