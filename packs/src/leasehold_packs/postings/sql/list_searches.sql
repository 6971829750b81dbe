-- The saved searches of a person: one of them, or all.
-- for: api, worker
create or replace function pack.list_searches(p_owner text, p_search uuid)
returns table (search_id uuid, name text, query jsonb, created_at timestamptz, matches bigint)
language sql stable
as $$
  select s.search_id, s.name, s.query, s.created_at,
    (select count(*) from pack.search_match m where m.search_id = s.search_id)
  from pack.search s
  where s.owner = p_owner and (p_search is null or s.search_id = p_search)
  order by s.name
$$;
