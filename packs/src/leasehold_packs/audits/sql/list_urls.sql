-- The pages that a run met, those near the start first; after the page of a key, if one is given.
-- for: api, worker
create or replace function pack.list_urls(
  p_run uuid, p_state text, p_status integer, p_depth integer, p_after bytea, p_limit integer
)
returns table (
  key text, url text, state text, status integer, depth integer, source text, in_sitemap boolean,
  hops integer, media_type text, bytes integer, is_cut boolean, ms integer, title text, words integer,
  indexable boolean, problem text
)
language sql stable
as $$
  select encode(u.key, 'hex'), u.url, u.state, u.status, u.depth, u.source, u.in_sitemap,
    u.hops, u.media_type, u.bytes, pack.is_cut(u), u.ms, u.title, u.words, u.indexable, u.problem
  from pack.url u
  where u.run_id = p_run
    and (p_state is null or u.state = p_state)
    and (p_status is null or u.status = p_status)
    and (p_depth is null or u.depth = p_depth)
    and (
      p_after is null
      or (coalesce(u.depth, 2147483647), u.url, u.key) > (
        select coalesce(a.depth, 2147483647), a.url, a.key
        from pack.url a
        where a.run_id = p_run and a.key = p_after
      )
    )
  order by coalesce(u.depth, 2147483647), u.url, u.key
  limit p_limit
$$;
