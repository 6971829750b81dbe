-- Tell a run of pages. Returns those to be fetched: new ones within its limits, which hold exactly, since whoever adds pages
-- that will be fetched holds the run. A page that was beyond the limits and is found by a shorter way is fetched after all. A
-- row without url: the run is over, or goes on elsewhere.
-- for: worker
create or replace function pack.add_urls(
  p_run uuid, p_part integer, p_keys bytea[], p_urls text[], p_depth integer, p_source text
)
returns table (key bytea, url text)
language plpgsql
as $$
#variable_conflict use_column
declare
  v_run  pack.run;
  v_room integer := 0;
begin
  if p_source = 'sitemap' then
    update pack.url u set in_sitemap = true where u.run_id = p_run and u.key = any(p_keys) and not u.in_sitemap;
  end if;
  if p_keys is null then
    return;
  end if;
  select * into v_run from pack.run where run_id = p_run;
  v_run.is_full := v_run.is_full or p_depth > (v_run.options ->> 'max_depth')::integer;
  if not exists (
    select from unnest(p_keys) a(key) where not exists (
      select from pack.url u where u.run_id = p_run and u.key = a.key and (v_run.is_full or u.state <> 'left')
    )
  ) then
    return;  -- most pages lead to none that is new
  end if;
  if not v_run.is_full then
    select * into v_run from pack.run where run_id = p_run for no key update;
    v_room := (v_run.options ->> 'max_pages')::integer
      - (select count(*) from pack.url u where u.run_id = p_run and u.state <> 'left');
  end if;
  if v_run.state is distinct from 'running' or v_run.part <> p_part then
    return query select null::bytea, null::text;
    return;
  end if;
  return query
    with asked as (
      select distinct on (a.key) a.key, a.url from unnest(p_keys, p_urls) a(key, url) order by a.key, a.url
    ),
    numbered as (
      select a.key, a.url, row_number() over (order by a.key) as n
      from asked a where not exists (select from pack.url u where u.run_id = p_run and u.key = a.key and u.state <> 'left')
    ),
    told as (
      insert into pack.url (run_id, key, tenant_id, url, depth, source, in_sitemap, state)
      select p_run, n.key, v_run.tenant_id, n.url, p_depth, p_source, p_source = 'sitemap', case when n.n <= v_room then 'queued' else 'left' end
      from numbered n order by n.key
      on conflict (run_id, key) do update set state = 'queued', depth = excluded.depth
      where url.state = 'left' and excluded.state = 'queued'
      returning url.key, url.url, url.state
    )
    select t.key, t.url from told t where t.state = 'queued';
  if p_depth <= (v_run.options ->> 'max_depth')::integer and not v_run.is_full and exists (
    select from pack.url u where u.run_id = p_run and u.key = any(p_keys) and u.state = 'left'
  ) then
    update pack.run set is_full = true where run_id = p_run;
    perform pack.add_event(
      p_run, 'warning', 'max_pages', 'the limit of ' || (v_run.options ->> 'max_pages') || ' pages is reached'
    );
  end if;
end
$$;
