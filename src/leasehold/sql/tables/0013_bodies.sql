-- What we keep of the outside world: what sites ask of programs, when a host may be asked again, and bodies.

-- robots.txt, by origin. A site tells everybody the same, so one copy serves all tenants. Private to the functions.
create table leasehold.robots (
  origin     text primary key check (length(origin) <= 300),
  status     smallint,               -- null: it did not answer
  file       bytea not null check (length(file) <= 512000),
  expires_at timestamptz not null
);
create index robots_by_time on leasehold.robots (expires_at);

-- When a host may be asked next, whoever asks. Private to the functions.
create table leasehold.host (
  host    text primary key check (length(host) <= 253),
  next_at timestamptz not null,      -- the first moment that nobody has yet
  line_at timestamptz not null       -- when the last of those who were sent away comes back
) with (fillfactor = 50);
create index host_by_time on leasehold.host (line_at);

-- Bodies that handlers put stand beside those of the engine. Theirs are compressed by the program that puts them, so
-- the digest is that of the bytes before: get_body gives plain ones, read_body all.
alter table leasehold.body
  alter column bytes drop not null,                     -- null: it is in the object store
  add column coding     text check (coding = 'zlib'),   -- null: as they are
  add column size       bigint,                         -- before compression; null: length of bytes
  add column object_key text unique,
  add column named      boolean not null default true,  -- by a payload or a result: it goes with the history
  add column keep_until timestamptz,                    -- not before this moment
  add check ((bytes is null) = (object_key is not null));
create index body_by_end on leasehold.body (keep_until) where not named;

-- Objects in the object store that no body names: about to be, or no longer. Private to the functions.
create table leasehold.loose_object (
  object_key text primary key,
  since      timestamptz not null
);

-- What a URL answered when a tenant fetched it last with remember=True. Private to the functions.
create table leasehold.remembered (
  tenant_id     uuid not null references leasehold.tenant on delete cascade,
  url_sha256    bytea not null,
  status        smallint not null,
  etag          text,
  last_modified text,
  content_type  text,
  sha256        bytea not null,      -- of its body
  keep_until    timestamptz not null,
  primary key (tenant_id, url_sha256)
);
create index remembered_by_end on leasehold.remembered (keep_until);

-- What report.generate made: where its bytes are, and until when. Its id is that of its job. Private to the functions.
create table leasehold.report (
  report_id  uuid primary key,
  tenant_id  uuid not null references leasehold.tenant on delete cascade,
  name       text not null,          -- activity, jobs, attempts, deliveries; data: handed in
  title      text not null check (length(title) between 1 and 200),
  format     text not null,
  media_type text not null,
  sha256     bytea not null,
  size       bigint not null,
  lines      bigint not null,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index report_by_tenant on leasehold.report (tenant_id, report_id);
create index report_by_end on leasehold.report (expires_at);

-- What the functions hand out.
create type leasehold.report_view as (
  report_id uuid, name text, title text, format text, media_type text, sha256 bytea, size bigint, lines bigint,
  created_at timestamptz, expires_at timestamptz
);
-- A line of a report, and where the next page goes on.
create type leasehold.report_line as (last uuid, line jsonb);

-- Endpoints: signatures by a key pair, a rate, and one delivery after the other.
alter table leasehold.endpoint
  drop constraint endpoint_format_check,
  add constraint endpoint_format_check check (format in ('standard', 'stripe', 'sha256', 'ed25519')),
  add column max_per_minute integer check (max_per_minute between 1 and 60000),  -- null: as fast as it answers
  add column ordered  boolean not null default false,
  add column paced_at timestamptz;   -- when the next delivery would be due if they came evenly
alter type leasehold.endpoint_view add attribute max_per_minute integer, add attribute ordered boolean;
create index delivery_pending on leasehold.delivery (endpoint_id, delivery_id) where state = 'pending';
