-- The pages of a run that a page links to (leaves), and those that link to it.
-- for: api
create or replace function pack.list_links(p_run uuid, p_key bytea)
returns table (url text, key text, text text, leaves boolean)
language sql stable
as $$
  select u.url, encode(u.key, 'hex'), l.words, l.from_key = p_key
  from pack.link l
  join pack.url u
    on u.run_id = l.run_id and u.key = case when l.from_key = p_key then l.to_key else l.from_key end
  where l.run_id = p_run and (l.from_key = p_key or l.to_key = p_key)
  order by l.from_key, l.n
  limit 2000
$$;
