-- Job postings. A source is a board of a company; a run asks sources what they list; a posting lives through many runs, its
-- versions say what it was when, its events what became of it.

create table pack.company (
  company_id uuid primary key default gen_random_uuid(),
  tenant_id  uuid not null,
  name       text not null,
  name_key   text not null,            -- letters and digits alone: Acme, ACME Inc. differ, Acme and acme do not
  created_at timestamptz not null default leasehold.now(),
  unique (tenant_id, name_key)
);

create table pack.source (
  source_id   uuid primary key default gen_random_uuid(),
  tenant_id   uuid not null,
  company_id  uuid not null references pack.company,
  board       text not null,
  slug        text not null,
  base        text not null,           -- where its machine-readable list lives
  host        text not null,           -- of base: requests to one host stand in one line
  url         text not null,           -- as it was pasted
  options     jsonb not null,
  enabled     boolean not null default true,
  health      text not null default 'new' check (health in ('new', 'good', 'suspicious', 'failing')),
  problem     text,                    -- why it is not good
  failures    integer not null default 0,
  list_digest text,                    -- of the last list that was read to its end
  held        jsonb,                   -- closings that wait for a person: how many, of how many, since which run
  last_ok_at  timestamptz,
  created_at  timestamptz not null default leasehold.now()
);
create unique index source_once on pack.source (tenant_id, board, base, lower(slug));
create index source_of_company on pack.source (tenant_id, company_id);

create table pack.run (
  run_id      uuid primary key default gen_random_uuid(),
  tenant_id   uuid not null,
  asked_by    text not null,
  details     text not null check (details in ('due', 'all')),
  flow_id     uuid,
  state       text not null default 'running' check (state in ('running', 'succeeded', 'failed', 'canceled')),
  reason      text,
  seq         bigint not null default 0,  -- rises with each transaction that changes something below; its row lock orders them
  created_at  timestamptz not null default leasehold.now(),
  finished_at timestamptz
);
create index run_by_time on pack.run (tenant_id, created_at desc);

create table pack.run_source (
  run_id      uuid not null references pack.run on delete cascade,
  source_id   uuid not null references pack.source on delete cascade,
  tenant_id   uuid not null,
  seq         bigint not null,
  state       text not null default 'running' check (state in ('running', 'succeeded', 'held', 'failed', 'canceled')),
  pages       integer not null default 0,
  complete    boolean not null default false,  -- the list was read to its end
  rung        text,                    -- what settled it: same_list, other_list
  list_digest text,
  counts      jsonb not null default '{}',
  problem     text,
  finished_at timestamptz,
  primary key (run_id, source_id)
);
-- A source is in one run at a time: two that settle it by lists of different moments would contradict each other.
create unique index run_source_once on pack.run_source (source_id) where state = 'running';
create index run_source_of_source on pack.run_source (source_id, finished_at desc);

create table pack.run_item (
  run_id      uuid not null,
  source_id   uuid not null,
  external_id text not null,
  tenant_id   uuid not null,
  seq         bigint not null,
  state       text not null check (state in ('pending', 'ready', 'skipped', 'error')),
  title       text not null,
  list_mark   text not null,           -- digest of what the list said of it
  listed      jsonb,                   -- the same in full, until its detail is read
  facts       jsonb,                   -- what is known of it now, until the source is settled; null: nothing was asked
  digest      text,                    -- of the facts that count
  outcome     text,
  problem     text,
  primary key (run_id, source_id, external_id),
  foreign key (run_id, source_id) references pack.run_source on delete cascade
);
create index run_item_by_seq on pack.run_item (run_id, seq);

-- What the steps of a run have to say, in one order: whose worker said it, and about which source.
create table pack.run_log (
  log_id    bigint generated always as identity primary key,
  tenant_id uuid not null,
  run_id    uuid not null references pack.run on delete cascade,
  source_id uuid,
  part      text not null check (part in ('list', 'detail', 'settle', 'finish')),
  level     text not null check (level in ('info', 'warning')),
  message   text not null,
  at        timestamptz not null default leasehold.now()
);
create index run_log_of_run on pack.run_log (run_id, log_id);

-- C++, C#, F# and .NET as words that PostgreSQL's parser leaves whole; the same for texts and for questions.
create function pack.spelled(p_text text) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(
    replace(p_text, '/', ' '),
    '\mc\+\+', 'cplusplus ', 'gi'),
    '\mc#', 'csharp ', 'gi'),
    '\mf#', 'fsharp ', 'gi'),
    '(^|[^[:alnum:]_])(asp|vb|ado|ml)?\.net\M', '\1\2dotnet', 'gi'),
    '\m([[:alnum:]]+)\.js\M', '\1js', 'gi')
$$;

-- The words that a question meets. The tenant is one of them: so that one index answers for one tenant alone.
create function pack.words_of(p_tenant uuid, p_title text, p_place text, p_text text) returns tsvector
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select setweight(to_tsvector('pg_catalog.english', pack.spelled(p_title)), 'A')
    || setweight(to_tsvector('pg_catalog.english', pack.spelled(p_place)), 'B')
    || setweight(to_tsvector('pg_catalog.english', pack.spelled(p_text)), 'C')
    || array_to_tsvector(array['tenant ' || p_tenant::text])
$$;

-- Pieces of three characters of a word or a title; likeness is how many are shared.
create function pack.pieces_of(p_text text) returns text[]
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(array_agg(distinct substr(s.padded, n, 3)), '{}')
  from (select '  ' || lower(left(p_text, 100)) || ' ' as padded) s, generate_series(1, length(s.padded) - 2) n
$$;

create table pack.posting (
  posting_id    uuid primary key default gen_random_uuid(),
  tenant_id     uuid not null,
  source_id     uuid not null references pack.source on delete cascade,
  company_id    uuid not null references pack.company,
  external_id   text not null,
  state         text not null default 'open' check (state in ('open', 'suspect', 'closed')),
  url           text not null,
  title         text not null,
  locations     text[] not null,
  place         text not null,         -- the same as one text, for the words
  remote        text,
  employment    text,
  seniority     text,
  department    text,
  requisition   text,
  salary        jsonb,                 -- as published
  currency      text,
  yearly_min    numeric,               -- the same by the year
  yearly_max    numeric,
  posted_at     timestamptz,
  valid_through text,
  description   text not null,
  digest        text not null,
  list_mark     text not null,
  version       integer not null default 1,
  missing       integer not null default 0,   -- complete lists in a row that did not have it
  held          boolean not null default false,  -- its closing waits for a person
  reposts       integer not null default 0,
  reopened      integer not null default 0,
  repost_of     uuid,
  cluster_id    uuid not null,         -- the posting that stands for all that are the same job
  simhash       bigint,
  detail_at     timestamptz,           -- when its text was last read
  first_seen    timestamptz not null default leasehold.now(),
  last_seen     timestamptz not null default leasehold.now(),
  closed_at     timestamptz,
  words         tsvector not null generated always as (
    pack.words_of(tenant_id, title, place || ' ' || coalesce(department, '') || ' ' || coalesce(remote, ''), description)
  ) stored,
  title_words   tsvector not null generated always as (to_tsvector('pg_catalog.english', pack.spelled(title))) stored,
  unique (source_id, external_id)
);
create index posting_words on pack.posting using gin (words);
create index posting_by_time on pack.posting (tenant_id, first_seen desc, posting_id desc) where cluster_id = posting_id;
create index posting_of_source on pack.posting (tenant_id, source_id, state);
create index posting_of_cluster on pack.posting (tenant_id, cluster_id);
create index posting_requisition on pack.posting (tenant_id, source_id, requisition) where requisition is not null;

-- What a posting was, and when: valid from this moment until that; after a closing nothing is valid until it opens again.
create table pack.version (
  posting_id uuid not null references pack.posting on delete cascade,
  n          integer not null,
  tenant_id  uuid not null,
  run_id     uuid not null,
  facts      jsonb not null,
  digest     text not null,
  minor      boolean not null default false,
  valid_from timestamptz not null default leasehold.now(),
  valid_to   timestamptz,
  primary key (posting_id, n)
);
create index version_by_time on pack.version (tenant_id, valid_from, valid_to);

create table pack.event (
  event_id   bigint generated always as identity primary key,
  tenant_id  uuid not null,
  posting_id uuid not null references pack.posting on delete cascade,
  source_id  uuid not null,
  run_id     uuid not null,
  kind       text not null check (kind in ('opened', 'changed', 'touched', 'suspect', 'closed', 'reopened', 'reposted')),
  diff       jsonb not null default '{}',
  at         timestamptz not null default leasehold.now()
);
create index event_of_posting on pack.event (posting_id, event_id);
create index event_by_time on pack.event (tenant_id, at desc);

-- Quarters of SimHashes: two that differ in at most three bits share one.
create table pack.band (
  tenant_id  uuid not null,
  company_id uuid not null,
  band       smallint not null,
  value      integer not null,
  posting_id uuid not null references pack.posting on delete cascade,
  primary key (tenant_id, company_id, band, value, posting_id)
);
create index band_of_posting on pack.band (posting_id);

-- The words of all postings of a tenant, and in how many of them each is.
create table pack.word (
  tenant_id uuid not null,
  word      text not null,
  n         integer not null,
  pieces    text[] not null generated always as (pack.pieces_of(word)) stored,
  primary key (tenant_id, word)
);
create index word_pieces on pack.word using gin (pieces);

create table pack.search (
  search_id  uuid primary key default gen_random_uuid(),
  tenant_id  uuid not null,
  owner      text not null,
  name       text not null,
  query      jsonb not null,
  created_at timestamptz not null default leasehold.now(),
  unique (tenant_id, owner, name)
);

create table pack.search_match (
  search_id  uuid not null references pack.search on delete cascade,
  posting_id uuid not null references pack.posting on delete cascade,
  tenant_id  uuid not null,
  kind       text not null,
  at         timestamptz not null default leasehold.now(),
  primary key (search_id, posting_id, at)
);

create table pack.application (
  application_id uuid primary key default gen_random_uuid(),
  tenant_id      uuid not null,
  owner          text not null,
  posting_id     uuid not null references pack.posting on delete cascade,
  stage          text not null check (stage in ('saved', 'applied', 'interview', 'offer', 'rejected')),
  note           text,
  due            date,
  created_at     timestamptz not null default leasehold.now(),
  unique (tenant_id, owner, posting_id)
);

create table pack.application_stage (
  application_id uuid not null references pack.application on delete cascade,
  n              integer not null,
  tenant_id      uuid not null,
  stage          text not null,
  since          timestamptz not null default leasehold.now(),
  primary key (application_id, n)
);

-- What a person wants to see; no row: all companies, no title filters.
create table pack.preference (
  tenant_id     uuid not null,
  owner         text not null,
  companies     uuid[],
  title_include text[] not null default '{}',
  title_exclude text[] not null default '{}',
  primary key (tenant_id, owner)
);

-- The next number of a run that still goes on; null when it is over. Its row stays locked: who changes a run comes one by one.
create function pack.next_seq(p_run uuid) returns bigint
language sql
set search_path = pg_catalog, pg_temp
as $$
  update pack.run set seq = seq + 1 where run_id = p_run and state = 'running' returning seq
$$;

-- End a run as it is; false when it was over already. What was not settled is not settled any more.
create function pack.stop_run(p_run uuid, p_state text, p_reason text) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_seq bigint := pack.next_seq(p_run);
begin
  if v_seq is null then
    return false;
  end if;
  update pack.run_source set state = p_state, seq = v_seq, finished_at = leasehold.now()
  where run_id = p_run and state = 'running';
  update pack.run set state = p_state, reason = p_reason, finished_at = leasehold.now() where run_id = p_run;
  update pack.run_item set facts = null, listed = null where run_id = p_run and (facts is not null or listed is not null);
  return true;
end
$$;

grant execute on function pack.next_seq(uuid), pack.stop_run(uuid, text, text) to leasehold_worker, leasehold_api;
grant execute on function pack.spelled(text), pack.words_of(uuid, text, text, text), pack.pieces_of(text)
  to leasehold_worker, leasehold_api, leasehold_operator, leasehold_readonly;
