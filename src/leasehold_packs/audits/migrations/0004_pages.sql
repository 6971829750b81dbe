-- A page in one call: what is written of it, what it leads to, and how far the run is.

alter table pack.run add column is_full boolean not null default false;      -- as many pages as were asked for are known

alter table pack.run add column told jsonb not null default '{}';             -- what the site as a whole answered
alter table pack.url add column lang text;
alter table pack.url add column has_icon boolean;

-- Images are asked for as pages of other sites are: only whether they are there, and how large.
alter table pack.outside add column is_image boolean not null default false;
alter table pack.outside add column size bigint;

create table pack.image (
  run_id    uuid not null references pack.run on delete cascade,
  from_key  bytea not null,
  n         integer not null,
  tenant_id uuid not null,
  to_key    bytea not null,
  primary key (run_id, from_key, n)
);

-- The statistics of tables that a run has just filled know nothing of it: without this, pages are compared each with each.
alter function pack.measure_depth(uuid) set enable_nestloop = off;
alter function pack.note_relations(uuid, jsonb) set enable_nestloop = off;
alter function pack.note_outside(uuid, text) set enable_nestloop = off;
alter function pack.update_findings(uuid) set enable_nestloop = off;

-- Tell a run of pages. Returns those to be fetched: new ones within its limits, which hold exactly, since whoever adds pages
-- that will be fetched holds the run. A page that was beyond the limits and is found by a shorter way is fetched after all. A
-- row without url: the run is over, or goes on elsewhere.
create or replace function pack.add_urls(
  p_run uuid, p_part integer, p_keys bytea[], p_urls text[], p_depth integer, p_source text
)
returns table (key bytea, url text)
language plpgsql
set search_path = pg_catalog, pg_temp
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
    perform pack.tell(
      p_run, 'warning', 'max_pages', 'the limit of ' || (v_run.options ->> 'max_pages') || ' pages is reached'
    );
  end if;
end
$$;

create or replace function pack.resume_run(p_run uuid) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_part integer;
begin
  update pack.run set state = 'running', reason = null, finished_at = null, part = part + 1, begun_at = leasehold.now(), is_full = false
  where run_id = p_run and state in ('canceled', 'failed')
  returning part into v_part;
  if v_part is not null then
    perform pack.tell(p_run, 'status_changed', 'running', 'the audit goes on', jsonb_build_object('state', 'running'));
  end if;
  return v_part;
end
$$;

-- Write what is known of a page: its row (facts), its issues, links and translations (alternates); then tell the run of the
-- pages it leads to, those of other sites (outside), images, and its own (found, so many clicks deeper). Returns the addresses that are
-- to be fetched and asked for, and the age of the run in seconds; no row if the page was written before, one without urls if
-- the run is over, or goes on elsewhere. Whatever holds the run comes before the pages that are added, or two might wait for each other.
create function pack.write_page(p_run uuid, p_part integer, p_key bytea, p_page jsonb)
returns table (urls text[], outside text[], images text[], age double precision)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant uuid;
  v_depth  integer;
  v_keys   bytea[];
  v_urls   text[];
begin
  select extract(epoch from leasehold.now() - r.begun_at) into age
  from pack.run r where r.run_id = p_run and r.state = 'running' and r.part = p_part;
  if not found then
    return next;
    return;
  end if;
  update pack.url u set
    state = f.state, status = f.status, final_key = f.final_key, hops = f.hops, media_type = f.media_type, answer = f.answer,
    body = f.body, bytes = f.bytes, ms = f.ms, problem = f.problem, title = f.title, description = f.description,
    canonical = f.canonical, indexable = f.indexable, words = f.words, content = f.content, simhash = f.simhash,
    anchors = f.anchors, lang = f.lang, has_icon = f.has_icon
  from jsonb_populate_record(null::pack.url, p_page -> 'facts') f
  where u.run_id = p_run and u.key = p_key and u.state = 'queued'
  returning u.tenant_id, coalesce(u.depth, 0) into v_tenant, v_depth;
  if not found then
    return;
  end if;
  insert into pack.issue (run_id, tenant_id, key, check_id, severity, evidence)
  select p_run, v_tenant, p_key, i.check_id, i.severity, i.evidence
  from jsonb_to_recordset(p_page -> 'issues') i(check_id text, severity text, evidence jsonb);
  insert into pack.link (run_id, tenant_id, from_key, n, to_key, fragment, words, nofollow)
  select p_run, v_tenant, p_key, l.n, l.to_key, l.fragment, l.words, l.nofollow
  from jsonb_to_recordset(p_page -> 'links') l(n integer, to_key bytea, fragment text, words text, nofollow boolean);
  insert into pack.alternate (run_id, tenant_id, from_key, n, to_key, hreflang)
  select p_run, v_tenant, p_key, a.n, a.to_key, a.hreflang
  from jsonb_to_recordset(p_page -> 'alternates') a(n integer, to_key bytea, hreflang text);
  if p_page ? 'trouble' then
    perform pack.tell(p_run, p_page #>> '{trouble,type}', null, p_page #>> '{trouble,message}');
  end if;
  outside := pack.write_outside(p_run, v_tenant, p_key, p_page -> 'outside');
  images := pack.write_images(p_run, v_tenant, p_key, p_page -> 'images');
  select array_agg(f.key), array_agg(f.url) into v_keys, v_urls
  from jsonb_to_recordset(p_page -> 'found') f(key bytea, url text);
  urls := array(
    select a.url from pack.add_urls(p_run, p_part, v_keys, v_urls, v_depth + (p_page ->> 'deeper')::integer, 'link') a
  );
  if array_position(urls, null) is not null then
    urls := null;
  else
    perform pack.measure(p_run);
  end if;
  return next;
end
$$;

-- The links of a page to other sites; returns those addresses that nobody has asked for lately.
create function pack.write_outside(p_run uuid, p_tenant uuid, p_key bytea, p_links jsonb) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into pack.outside_link (run_id, tenant_id, from_key, n, to_key, words)
  select p_run, p_tenant, p_key, l.n, l.to_key, l.words
  from jsonb_to_recordset(p_links) l(n integer, to_key bytea, words text);
  if not found then
    return '{}';
  end if;
  return pack.ask_outside(p_run, p_links, false);
end
$$;

-- The same for the images of a page.
create function pack.write_images(p_run uuid, p_tenant uuid, p_key bytea, p_images jsonb) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into pack.image (run_id, tenant_id, from_key, n, to_key)
  select p_run, p_tenant, p_key, i.n, i.to_key from jsonb_to_recordset(p_images) i(n integer, to_key bytea);
  if not found then
    return '{}';
  end if;
  return pack.ask_outside(p_run, p_images, true);
end
$$;

-- Those of these addresses that are to be asked for, by one page of the run at a time.
create function pack.ask_outside(p_run uuid, p_found jsonb, p_images boolean) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_keys bytea[];
  v_urls text[];
begin
  perform from pack.run where run_id = p_run for no key update;  -- before the next statement looks who has asked
  select array_agg(f.to_key), array_agg(f.url) into v_keys, v_urls
  from jsonb_to_recordset(p_found) f(to_key bytea, url text);
  return array(select o.url from pack.add_outside(p_run, v_keys, v_urls, p_images) o);
end
$$;

-- Tell a run of pages of other sites, or of images. Returns those that it is to ask for: not asked for within a day, and not
-- too many.
drop function pack.add_outside(uuid, bytea[], text[]);
create function pack.add_outside(p_run uuid, p_keys bytea[], p_urls text[], p_images boolean) returns table (url text)
language sql
set search_path = pg_catalog, pg_temp
as $$
  with
  run as materialized (select * from pack.run where run_id = p_run for no key update),
  asked as (
    select distinct on (a.key) a.key, a.url from unnest(p_keys, p_urls) a(key, url), run r
    where not exists (
      select from pack.outside o where o.tenant_id = r.tenant_id and o.key = a.key and o.is_image = p_images
        and (o.asked_by = p_run or o.checked_at > leasehold.now() - interval '1 day')
    )
    order by a.key, a.url
  ),
  room as (
    select (r.options ->> case when p_images then 'max_images' else 'max_external' end)::integer - (
      select count(*) from pack.outside o where o.tenant_id = r.tenant_id and o.asked_by = p_run and o.is_image = p_images
    ) as n
    from run r
  ),
  told as (
    insert into pack.outside as o (tenant_id, key, url, asked_by, is_image)
    select r.tenant_id, a.key, a.url, p_run, p_images from run r, asked a
    where r.state = 'running' order by a.key limit greatest((select n from room), 0)
    on conflict (tenant_id, key) do update
    set asked_by = excluded.asked_by, status = null, problem = null, checked_at = null, is_image = excluded.is_image, size = null
    returning o.url
  )
  select t.url from told t
$$;

-- Issues of the site as a whole (p_root is its first page), of images, and of languages that do not agree.
create function pack.note_more(p_run uuid, p_root bytea, p_severity jsonb) returns void
language sql
set search_path = pg_catalog, pg_temp
set enable_nestloop = off
as $$
  with found (check_id, key, evidence) as (
    select 'https_not_enforced', p_root, r.told -> 'insecure' from pack.run r where r.run_id = p_run and r.told ? 'insecure'
    union all
    select 'favicon_missing', p_root, '{}' from pack.run r join pack.url u on u.run_id = r.run_id and u.key = p_root
    where r.run_id = p_run and r.told ->> 'favicon' = 'false' and not u.has_icon
    union all
    select 'image_large', i.from_key, jsonb_build_object(
      'count', count(*), 'examples', (array_agg(distinct o.url || ' ' || o.size))[1:10]
    )
    from pack.image i join pack.outside o on o.tenant_id = i.tenant_id and o.key = i.to_key
    where i.run_id = p_run and o.size > 500000 and o.status < 400
    group by i.from_key
    union all
    select 'hreflang_mismatch', a.from_key, jsonb_build_object(
      'count', count(*), 'examples', (array_agg(a.hreflang || ' ' || u.url || ' says ' || u.lang order by a.hreflang))[1:10]
    )
    from pack.alternate a join pack.url u on u.run_id = p_run and u.key = a.to_key
    where a.run_id = p_run and lower(a.hreflang) <> 'x-default'
      and lower(split_part(a.hreflang, '-', 1)) <> lower(split_part(u.lang, '-', 1))
    group by a.from_key
  )
  insert into pack.issue (run_id, check_id, key, tenant_id, severity, evidence)
  select p_run, f.check_id, f.key, u.tenant_id, p_severity ->> f.check_id, f.evidence
  from found f join pack.url u on u.run_id = p_run and u.key = f.key
  on conflict do nothing
$$;

grant execute on function
  pack.write_page(uuid, integer, bytea, jsonb), pack.write_outside(uuid, uuid, bytea, jsonb),
  pack.write_images(uuid, uuid, bytea, jsonb), pack.ask_outside(uuid, jsonb, boolean),
  pack.add_outside(uuid, bytea[], text[], boolean),
  pack.note_more(uuid, bytea, jsonb)
to leasehold_worker;
