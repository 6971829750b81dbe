-- A saved search has found these postings. The newest of them, for the message about it.
-- for: worker
create or replace function pack.add_matches(
  p_tenant uuid, p_search uuid, p_postings uuid[], p_kinds text[], p_limit integer
) returns table (posting_id text, title text, url text, place text)
language sql
as $$
  insert into pack.search_match (search_id, posting_id, tenant_id, kind)
  select p_search, m.posting_id, p_tenant, m.kind
  from unnest(p_postings, p_kinds) m(posting_id, kind)
  on conflict do nothing;
  select p.posting_id::text, p.title, p.url, p.place from pack.posting p
  where p.posting_id = any(p_postings)
  order by p.first_seen desc, p.posting_id
  limit p_limit;
$$;
