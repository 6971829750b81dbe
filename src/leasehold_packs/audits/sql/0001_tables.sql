-- Site audits. A run is a crawl; url is its frontier and its memory; issues are what one run found, findings what became of
-- them over many.

create table pack.site (
  site_id    uuid primary key default gen_random_uuid(),
  tenant_id  uuid not null,
  url        text not null,
  url_key    text not null,
  created_at timestamptz not null default leasehold.now(),
  unique (tenant_id, url_key)
);

create table pack.run (
  run_id      uuid primary key default gen_random_uuid(),
  tenant_id   uuid not null,
  site_id     uuid not null references pack.site on delete cascade,
  recipe      integer not null,
  fingerprint text not null,           -- of what was asked for: the same within its window is the same run
  options     jsonb not null,
  flow_id     uuid,
  state       text not null default 'running' check (state in ('running', 'succeeded', 'failed', 'canceled')),
  reason      text,
  pages       integer not null default 0,
  score       numeric(5, 2),
  report      jsonb,                   -- counts and the arithmetic of the score
  created_at  timestamptz not null default leasehold.now(),
  finished_at timestamptz
);
create index run_of_site on pack.run (tenant_id, site_id, created_at desc);
create index run_by_request on pack.run (tenant_id, fingerprint, created_at desc);

-- One row for each page that a run has heard of. Whoever inserts it fetches it.
create table pack.url (
  run_id      uuid not null references pack.run on delete cascade,
  key         bytea not null,          -- SHA-256 of its url_key
  tenant_id   uuid not null,
  url         text not null,
  depth       integer,                 -- clicks from the start; null: no way leads to it
  source      text not null check (source in ('seed', 'sitemap', 'link')),
  in_sitemap  boolean not null default false,
  state       text not null default 'queued' check (state in ('queued', 'fetched', 'failed', 'blocked', 'left')),
  status      integer,
  final_key   bytea,                   -- where redirects led
  hops        integer not null default 0,
  media_type  text,
  answer      jsonb,                   -- headers and redirects, for a later recipe
  body        text,                    -- digest in the body store
  bytes       integer,
  ms          integer,
  title       text,
  description text,
  canonical   bytea,
  indexable   boolean,
  words       integer,
  content     bytea,                   -- SHA-256 of what a reader sees
  simhash     bigint,
  anchors     text[],
  problem     text,
  primary key (run_id, key)
);
create index url_waiting on pack.url (run_id) where state = 'queued';

create table pack.link (
  run_id    uuid not null references pack.run on delete cascade,
  from_key  bytea not null,
  n         integer not null,
  tenant_id uuid not null,
  to_key    bytea not null,
  fragment  text,
  words     text,
  nofollow  boolean not null,
  primary key (run_id, from_key, n)
);
create index link_to on pack.link (run_id, to_key);

create table pack.alternate (
  run_id    uuid not null references pack.run on delete cascade,
  from_key  bytea not null,
  n         integer not null,
  tenant_id uuid not null,
  to_key    bytea not null,
  hreflang  text not null,
  primary key (run_id, from_key, n)
);

create table pack.issue (
  run_id    uuid not null references pack.run on delete cascade,
  check_id  text not null,
  key       bytea not null,
  tenant_id uuid not null,
  severity  text not null,
  evidence  jsonb not null,
  primary key (run_id, check_id, key)
);

create table pack.finding (
  site_id        uuid not null references pack.site on delete cascade,
  check_id       text not null,
  key            bytea not null,
  tenant_id      uuid not null,
  finding_id     uuid not null default gen_random_uuid() unique,
  url            text not null,
  severity       text not null,
  state          text not null check (state in ('new', 'open', 'fixed', 'regressed', 'accepted')),
  first_run      uuid not null,
  last_run       uuid not null,        -- that looked
  note           text,
  accepted_until timestamptz,
  primary key (site_id, check_id, key)
);

-- Tell a run of pages. Returns those that are to be fetched: new ones within the limits of the run. A page that was beyond the
-- limits and is now found by a shorter way is fetched after all.
create function pack.add_urls(p_run uuid, p_keys bytea[], p_urls text[], p_depth integer, p_source text)
returns table (key bytea, url text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_run  pack.run;
  v_room integer;
begin
  select * into v_run from pack.run where run_id = p_run;
  if v_run.state <> 'running' then
    return;
  end if;
  v_room := case when p_depth > (v_run.options ->> 'max_depth')::integer then 0 else (v_run.options ->> 'max_pages')::integer - (
    select count(*) from pack.url u where u.run_id = p_run and u.state <> 'left'
  ) end;
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
      from numbered n
      on conflict (run_id, key) do update set state = 'queued', depth = excluded.depth
      where url.state = 'left' and excluded.state = 'queued'
      returning url.key, url.url, url.state
    )
    select t.key, t.url from told t where t.state = 'queued';
  update pack.url u set in_sitemap = true
  where p_source = 'sitemap' and u.run_id = p_run and u.key = any(p_keys) and not u.in_sitemap;
end
$$;
grant execute on function pack.add_urls(uuid, bytea[], text[], integer, text) to leasehold_worker;

-- The state of the run for everybody who may act on it; false when it was over already.
create function pack.stop_run(p_run uuid, p_state text, p_reason text) returns boolean
language sql
set search_path = pg_catalog, pg_temp
as $$
  with stopped as (
    update pack.run set state = p_state, reason = p_reason, finished_at = leasehold.now()
    where run_id = p_run and state = 'running' returning 1
  )
  select exists (select from stopped)
$$;
grant execute on function pack.stop_run(uuid, text, text) to leasehold_worker, leasehold_api;
