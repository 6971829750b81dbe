-- Finding products: a search looks at pages, what looks like a product becomes a candidate, and a person decides.

create table pack.search (
  search_id   uuid primary key default gen_random_uuid(),
  tenant_id   uuid not null,
  site_id     uuid not null references pack.site on delete cascade,
  options     jsonb not null,
  flow_id     uuid,
  counts      jsonb,                   -- when it has ended: pages by what they were
  created_at  timestamptz not null default leasehold.now(),
  finished_at timestamptz
);
create index search_of_site on pack.search (site_id, created_at desc);

-- One row for each page that a search has heard of. Whoever inserts it looks at it.
create table pack.page (
  search_id uuid not null references pack.search on delete cascade,
  key       bytea not null,
  tenant_id uuid not null,
  url       text not null,
  depth     integer not null,
  state     text not null default 'queued' check (state in ('queued', 'product', 'other', 'failed', 'blocked', 'left')),
  primary key (search_id, key)
);

create table pack.candidate (
  candidate_id uuid primary key default gen_random_uuid(),
  tenant_id    uuid not null,
  site_id      uuid not null references pack.site on delete cascade,
  key          bytea not null,
  url          text not null,
  guess        jsonb not null,         -- name, price, image, and how they were read
  confidence   real not null,
  state        text not null default 'proposed' check (state in ('proposed', 'approved', 'rejected')),
  decided_by   text,
  decided_at   timestamptz,
  created_at   timestamptz not null default leasehold.now(),
  unique (site_id, key)
);
create index candidate_proposed on pack.candidate (site_id, confidence desc) where state = 'proposed';

-- Tell a search of pages. Returns those to look at: new ones, within its limits.
create function pack.add_pages(p_search uuid, p_keys bytea[], p_urls text[], p_depth integer)
returns table (url text)
language plpgsql
set search_path = pg_catalog, pg_temp
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
grant execute on function pack.add_pages(uuid, bytea[], text[], integer) to leasehold_worker;
