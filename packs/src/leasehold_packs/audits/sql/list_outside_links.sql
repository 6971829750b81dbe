-- The pages of other sites that a page links to, with what is known of them.
-- for: api
create or replace function pack.list_outside_links(p_run uuid, p_key bytea)
returns table (url text, text text, status integer, problem text, checked_at timestamptz)
language sql stable
as $$
  select o.url, l.words, o.status, o.problem, o.checked_at
  from pack.outside_link l
  join pack.outside o on o.tenant_id = l.tenant_id and o.key = l.to_key
  where l.run_id = p_run and l.from_key = p_key
  order by l.n
  limit 1000
$$;
