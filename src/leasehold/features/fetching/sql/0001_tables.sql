-- What is kept of foreign sites. Private to the functions.

-- robots.txt, by origin. A site publishes one file for everybody, so one copy serves all tenants.
create table leasehold.robots (
  origin     text primary key check (length(origin) <= 300),
  status     smallint,               -- null: it did not answer
  file       bytea not null check (length(file) <= 512000),
  asked_at   timestamptz not null,
  expires_at timestamptz not null
);
create index robots_by_time on leasehold.robots (expires_at);

-- When a host may be asked next, for all tenants together.
create table leasehold.host (
  host    text primary key check (length(host) <= 253),
  next_at timestamptz not null,      -- the first slot that is free
  line_at timestamptz not null       -- when the last of those who were sent away comes back
) with (fillfactor = 50);
create index host_by_time on leasehold.host (line_at);

-- What a URL answered when a tenant fetched it last with remember=True.
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
