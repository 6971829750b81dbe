-- Who may call the HTTP API. Private to the functions.

-- A key lets a program in. Its secret is not here: only the HMAC of the whole key under a pepper
-- that is not in the database, so that neither a dump nor a reader of this table can sign in.
create table leasehold.api_key (
  key_id       text primary key check (key_id ~ '^[0-9A-Za-z]{22}$'),
  tenant_id    uuid references leasehold.tenant on delete cascade,  -- null: of the installation
  name         text not null check (length(name) between 1 and 100),
  scopes       text[] not null check (cardinality(scopes) > 0),
  queues       text[],               -- what a worker with this key may work on
  digest       bytea not null check (length(digest) = 32),
  pepper_id    text not null,        -- which pepper, while two are in use
  created_by   text not null,
  created_at   timestamptz not null,
  expires_at   timestamptz,
  revoked_at   timestamptz,
  last_used_at timestamptz,          -- exact to a minute
  -- A key of the installation is the operator's, or reads the metrics and nothing else.
  check ((tenant_id is null) = (scopes && array['operator', 'metrics'])),
  check (coalesce(cardinality(queues) > 0, false) = ('work' = any(scopes)))
);
create index api_key_by_tenant on leasehold.api_key (tenant_id, created_at);

-- A ticket opens one stream once, for a browser that cannot send a key. Only its digest is kept.
create table leasehold.ticket (
  digest     bytea primary key,
  tenant_id  uuid not null references leasehold.tenant on delete cascade,
  job_id     uuid,                   -- the stream of a job …
  flow_id    uuid,                   -- … or of a flow; neither: that of the whole tenant
  key_id     text not null references leasehold.api_key on delete cascade,
  expires_at timestamptz not null,
  check (num_nonnulls(job_id, flow_id) <= 1)
);
create index ticket_by_time on leasehold.ticket (expires_at);

insert into leasehold.quota (what, most) values ('keys', 100);

-- A key as its owner may see it: never its digest.
create type leasehold.key_view as (
  key_id text, tenant_id uuid, name text, scopes text[], created_by text, created_at timestamptz,
  expires_at timestamptz, revoked_at timestamptz, last_used_at timestamptz, queues text[]
);
