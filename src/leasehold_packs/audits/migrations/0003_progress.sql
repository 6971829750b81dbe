-- Runs that say how far they are, stop and go on, or judge again what was kept; and links to other sites.

alter table pack.run add column part integer not null default 1;             -- one more each time a stopped run goes on
alter table pack.run add column begun_at timestamptz not null default leasehold.now();  -- this part
alter table pack.run add column seq bigint not null default 0;               -- of its newest event
alter table pack.run add column progress integer not null default 0 check (progress between 0 and 100);
alter table pack.run add column measured_at timestamptz;
alter table pack.run add column reread_of uuid references pack.run on delete cascade;  -- judged again are the pages of that run
alter table pack.run add column settles boolean not null default true;       -- whether findings follow it

-- What happened in a run. Numbers are given under the lock of its row: whoever has seen one has seen all before it.
create table pack.event (
  run_id    uuid not null references pack.run on delete cascade,
  seq       bigint not null,
  tenant_id uuid not null,
  part      integer not null,
  type      text not null check (type in ('status_changed', 'step_started', 'step_done', 'warning', 'error', 'metric')),
  step      text,
  message   text not null,
  data      jsonb,
  progress  integer not null,
  at        timestamptz not null default leasehold.now(),
  primary key (run_id, seq)
);

-- Pages of other sites that links lead to: asked for once a day, whichever runs meet them.
create table pack.outside (
  tenant_id  uuid not null,
  key        bytea not null,
  url        text not null,
  asked_by   uuid not null,            -- the run whose job it is
  status     integer,
  problem    text,
  checked_at timestamptz,
  primary key (tenant_id, key)
);
create index outside_of_run on pack.outside (asked_by) where checked_at is null;

create table pack.outside_link (
  run_id    uuid not null references pack.run on delete cascade,
  from_key  bytea not null,
  n         integer not null,
  tenant_id uuid not null,
  to_key    bytea not null,
  words     text,
  primary key (run_id, from_key, n)
);

-- Note an event. What has a step is said once in each part of a run; warnings and errors of pages have a limit.
create function pack.tell(
  p_run uuid, p_type text, p_step text, p_message text, p_data jsonb default null, p_progress integer default 0
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run pack.run;
begin
  select * into v_run from pack.run where run_id = p_run for no key update;
  if p_step is not null and p_type <> 'metric' and exists (
    select from pack.event e
    where e.run_id = p_run and e.part = v_run.part and e.type = p_type and e.step = p_step
  ) then
    return;
  end if;
  if p_step is null and (
    select count(*) from pack.event e where e.run_id = p_run and e.type in ('warning', 'error')
  ) >= 500 then
    return;
  end if;
  update pack.run set seq = seq + 1, progress = greatest(progress, p_progress) where run_id = p_run returning * into v_run;
  insert into pack.event (run_id, seq, tenant_id, part, type, step, message, data, progress)
  values (p_run, v_run.seq, v_run.tenant_id, v_run.part, p_type, p_step, left(p_message, 1000), p_data, v_run.progress);
end
$$;

-- Note how many pages are known and done, at most once a second. Nobody waits to say so.
create function pack.measure(p_run uuid) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_known integer;
  v_done  integer;
  v_bad   integer;
begin
  perform from pack.run
  where run_id = p_run and state = 'running' and coalesce(measured_at < leasehold.now() - interval '1 second', true)
  for no key update skip locked;
  if not found then
    return;
  end if;
  select count(*), count(*) filter (where state <> 'queued'), count(*) filter (where state = 'failed' or status >= 400)
  into v_known, v_done, v_bad
  from pack.url where run_id = p_run and state <> 'left';
  update pack.run set measured_at = leasehold.now() where run_id = p_run;
  perform pack.tell(
    p_run, 'metric', 'crawl', v_done || ' of ' || v_known || ' pages',
    jsonb_build_object('known', v_known, 'done', v_done, 'failed', v_bad), 90 * v_done / greatest(v_known, 1)
  );
end
$$;

create or replace function pack.stop_run(p_run uuid, p_state text, p_reason text) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update pack.run set state = p_state, reason = p_reason, finished_at = leasehold.now() where run_id = p_run and state = 'running';
  if not found then
    return false;
  end if;
  perform pack.tell(p_run, 'status_changed', p_state, p_reason, jsonb_build_object('state', p_state));
  return true;
end
$$;

-- Let a stopped run go on; its new part, or null if it was not stopped.
create function pack.resume_run(p_run uuid) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_part integer;
begin
  update pack.run set state = 'running', reason = null, finished_at = null, part = part + 1, begun_at = leasehold.now()
  where run_id = p_run and state in ('canceled', 'failed')
  returning part into v_part;
  if v_part is not null then
    perform pack.tell(p_run, 'status_changed', 'running', 'the audit goes on', jsonb_build_object('state', 'running'));
  end if;
  return v_part;
end
$$;

-- Tell a run of pages. Returns those to be fetched: new ones within its limits, which hold exactly, since whoever adds pages
-- holds the run. A page that was beyond the limits and is found by a shorter way is fetched after all. A row without url:
-- the run is over, or goes on elsewhere.
drop function pack.add_urls(uuid, bytea[], text[], integer, text);
create function pack.add_urls(p_run uuid, p_part integer, p_keys bytea[], p_urls text[], p_depth integer, p_source text)
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
  if not exists (
    select from unnest(p_keys) a(key)
    where not exists (select from pack.url u where u.run_id = p_run and u.key = a.key and u.state <> 'left')
  ) then
    return;  -- most pages lead to none that is new
  end if;
  select * into v_run from pack.run where run_id = p_run for no key update;
  if v_run.state is distinct from 'running' or v_run.part <> p_part then
    return query select null::bytea, null::text;
    return;
  end if;
  if p_depth <= (v_run.options ->> 'max_depth')::integer then
    v_room := (v_run.options ->> 'max_pages')::integer
      - (select count(*) from pack.url u where u.run_id = p_run and u.state <> 'left');
    if v_room <= 0 then
      perform pack.tell(
        p_run, 'warning', 'max_pages', 'the limit of ' || (v_run.options ->> 'max_pages') || ' pages is reached'
      );
    end if;
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
      from numbered n
      on conflict (run_id, key) do update set state = 'queued', depth = excluded.depth
      where url.state = 'left' and excluded.state = 'queued'
      returning url.key, url.url, url.state
    )
    select t.key, t.url from told t where t.state = 'queued';
end
$$;

-- Tell a run of pages of other sites. Returns those that it is to ask for: not asked for within a day, and not too many.
create function pack.add_outside(p_run uuid, p_keys bytea[], p_urls text[]) returns table (url text)
language sql
set search_path = pg_catalog, pg_temp
as $$
  with
  run as materialized (select * from pack.run where run_id = p_run for no key update),
  asked as (
    select distinct on (a.key) a.key, a.url from unnest(p_keys, p_urls) a(key, url), run r
    where not exists (
      select from pack.outside o where o.tenant_id = r.tenant_id and o.key = a.key
        and (o.asked_by = p_run or o.checked_at > leasehold.now() - interval '1 day')
    )
    order by a.key, a.url
  ),
  room as (
    select (r.options ->> 'max_external')::integer
      - (select count(*) from pack.outside o where o.tenant_id = r.tenant_id and o.asked_by = p_run) as n
    from run r
  ),
  told as (
    insert into pack.outside as o (tenant_id, key, url, asked_by)
    select r.tenant_id, a.key, a.url, p_run from run r, asked a
    where r.state = 'running' order by a.key limit greatest((select n from room), 0)
    on conflict (tenant_id, key) do update
    set asked_by = excluded.asked_by, status = null, problem = null, checked_at = null
    returning o.url
  )
  select t.url from told t
$$;

-- Issues about links to other sites.
create function pack.note_outside(p_run uuid, p_severity text) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  insert into pack.issue (run_id, check_id, key, tenant_id, severity, evidence)
  select p_run, 'link_broken_outside', l.from_key, l.tenant_id, p_severity, jsonb_build_object(
    'count', count(*),
    'examples', (array_agg(distinct o.url || ' ' || coalesce(o.status::text, o.problem)))[1:10]
  )
  from pack.outside_link l join pack.outside o on o.tenant_id = l.tenant_id and o.key = l.to_key
  where l.run_id = p_run and o.checked_at is not null and (o.status in (404, 410) or o.status >= 500 or o.status is null and o.problem is not null)
  group by l.from_key, l.tenant_id
  on conflict do nothing
$$;

grant execute on function
  pack.tell(uuid, text, text, text, jsonb, integer), pack.stop_run(uuid, text, text)
to leasehold_worker, leasehold_api;
grant execute on function pack.resume_run(uuid) to leasehold_api;
grant execute on function
  pack.measure(uuid), pack.add_urls(uuid, integer, bytea[], text[], integer, text), pack.add_outside(uuid, bytea[], text[]),
  pack.note_outside(uuid, text)
to leasehold_worker;
