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
  finished_at timestamptz,
  part        integer not null default 1,  -- one more each time a stopped run goes on
  begun_at    timestamptz not null default leasehold.now(),  -- this part
  seq         bigint not null default 0,   -- of its newest event
  progress    integer not null default 0 check (progress between 0 and 100),
  measured_at timestamptz,
  reread_of   uuid references pack.run on delete cascade,  -- judged again are the pages of that run
  settles     boolean not null default true,   -- whether findings follow it
  is_full     boolean not null default false,  -- as many pages as were asked for are known
  told        jsonb not null default '{}'      -- what the site as a whole answered
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
  lang        text,
  has_icon    boolean,
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
  is_image   boolean not null default false,
  size       bigint,
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

-- Images are asked for as pages of other sites are: only whether they are there, and how large.
create table pack.image (
  run_id    uuid not null references pack.run on delete cascade,
  from_key  bytea not null,
  n         integer not null,
  tenant_id uuid not null,
  to_key    bytea not null,
  primary key (run_id, from_key, n)
);

-- How many a tenant may have.
insert into leasehold.quota (what, most) values
  ('audits.sites', 500)
on conflict do nothing;

create trigger quota after insert on pack.site referencing new table as made
  for each statement execute function leasehold.enforce_quota('audits.sites');
