-- Tell a search of pages. Returns those to look at: new ones, within its limits.
-- for: worker
create or replace function pack.add_pages(p_search uuid, p_keys bytea[], p_urls text[], p_depth integer)
returns table (url text)
language plpgsql
as $$
#variable_conflict use_column
declare
  v_search pack.search;
  v_room   integer;
begin
  select * into v_search from pack.search where search_id = p_search;
  if v_search.search_id is null or v_search.finished_at is not null then
    return;
  end if;
  v_room := case when p_depth > (v_search.options ->> 'max_depth')::integer then 0 else (v_search.options ->> 'max_pages')::integer - (
    select count(*) from pack.page g where g.search_id = p_search and g.state <> 'left'
  ) end;
  return query
    with asked as (
      select distinct on (a.key) a.key, a.url from unnest(p_keys, p_urls) a(key, url) order by a.key, a.url
    ),
    numbered as (
      select a.key, a.url, row_number() over (order by a.key) as n
      from asked a where not exists (select from pack.page g where g.search_id = p_search and g.key = a.key and g.state <> 'left')
    ),
    told as (
      insert into pack.page (search_id, key, tenant_id, url, depth, state)
      select p_search, n.key, v_search.tenant_id, n.url, p_depth, case when n.n <= v_room then 'queued' else 'left' end
      from numbered n
      on conflict (search_id, key) do update set state = 'queued', depth = excluded.depth
      where page.state = 'left' and excluded.state = 'queued'
      returning page.url, page.state
    )
    select t.url from told t where t.state = 'queued';
end
$$;
