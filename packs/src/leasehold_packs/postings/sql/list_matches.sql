-- The postings that a saved search has found, the newest first.
-- for: api, worker
create or replace function pack.list_matches(p_search uuid, p_limit integer)
returns table (
  posting_id uuid, kind text, at timestamptz, title text, url text, place text, company text
)
language sql stable
as $$
  select m.posting_id, m.kind, m.at, p.title, p.url, p.place, c.name
  from pack.search_match m
  join pack.posting p using (posting_id)
  join pack.company c using (company_id)
  where m.search_id = p_search
  order by m.at desc, m.posting_id
  limit p_limit
$$;
