-- The candidates of a site in one state, the surest first.
-- for: api, worker
create or replace function pack.list_candidates(p_site uuid, p_state text, p_limit integer)
returns table (
  candidate_id uuid, url text, guess jsonb, confidence double precision, state text, decided_by text,
  decided_at timestamptz, created_at timestamptz
)
language sql stable
as $$
  select c.candidate_id, c.url, c.guess, round(c.confidence::numeric, 3)::float8, c.state, c.decided_by,
    c.decided_at, c.created_at
  from pack.candidate c
  where c.site_id = p_site and c.state = p_state
  order by c.confidence desc, c.url
  limit p_limit
$$;
