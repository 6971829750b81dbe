-- Battery passports. What was signed, sealed or published cannot be changed any more: the triggers at the end see to it.

-- Who signs: one for each tenant. Its did:web leads to /v1/passports/issuers/<slug>/did.json on its host.
create table pack.issuer (
  tenant_id uuid primary key,
  slug      text not null unique check (slug ~ '^[a-z0-9][a-z0-9-]{0,39}$'),
  name      text not null check (length(name) between 1 and 200),
  host      text not null,            -- links of QR codes lead there
  did       text not null,
  challenge text not null default replace(gen_random_uuid()::text, '-', ''),
  host_proven_at timestamptz
);

-- Public keys. The private one is a secret of the tenant, which only an attempt can open.
create table pack.signing_key (
  tenant_id  uuid not null,
  key_id     text not null,
  issuer     text not null,
  public_key bytea not null check (length(public_key) = 32),
  secret     text not null,           -- the name of the secret
  not_before timestamptz not null,
  not_after  timestamptz,             -- null: it signs
  revoked_at timestamptz,
  primary key (tenant_id, key_id)
);

create unique index on pack.signing_key (tenant_id) where not_after is null and revoked_at is null;

-- A battery model, or one battery (with a serial number, and perhaps a model whose facts are its own, too).
create table pack.passport (
  tenant_id   uuid not null,
  passport_id uuid not null default gen_random_uuid() unique,  -- stands in public addresses
  name        text not null check (length(name) between 1 and 200),
  category    text not null check (category in ('ev', 'lmt', 'industrial', 'stationary')),
  gtin        text,
  serial      text not null default '',
  model_id    uuid,
  created_at  timestamptz not null default now(),
  primary key (tenant_id, passport_id),
  foreign key (tenant_id, model_id) references pack.passport
);

create unique index on pack.passport (tenant_id, gtin, serial) where gtin is not null;


create index on pack.passport (tenant_id, model_id) where model_id is not null;

create table pack.document (
  tenant_id   uuid not null,
  document_id uuid not null default gen_random_uuid(),
  passport_id uuid not null,
  name        text not null check (length(name) between 1 and 200),
  role        text not null check (role in ('facts', 'schema', 'sheet', 'evidence')),
  under       text not null default '',  -- the place of its facts in the passport
  primary key (tenant_id, document_id),
  unique (tenant_id, passport_id, name),
  foreign key (tenant_id, passport_id) references pack.passport
);

create table pack.document_version (
  tenant_id   uuid not null,
  document_version_id uuid not null default gen_random_uuid(),
  document_id uuid not null,
  number      integer not null,
  sha256      text not null,
  media_type  text not null,
  bytes       bytea not null,
  schema_id   uuid,                    -- the version of the JSON Schema that it is checked against
  state       text not null default 'received' check (state in ('received', 'read', 'unreadable')),
  encoding    text,
  facts       integer,
  errors      integer,
  problem     jsonb,                   -- why it is unreadable
  author      text not null,
  received_at timestamptz not null default now(),
  valid_until timestamptz,             -- null: for ever
  expired_at  timestamptz,             -- when we told that its time is over
  primary key (tenant_id, document_version_id),
  unique (tenant_id, document_id, sha256),
  unique (tenant_id, document_id, number),
  foreign key (tenant_id, document_id) references pack.document,
  foreign key (tenant_id, schema_id) references pack.document_version
);

-- One value at one pointer, and where it was read. A fact in error has a message, and may lack a pointer or a value.
create table pack.fact (
  tenant_id   uuid not null,
  fact_id     bigint generated always as identity,
  passport_id uuid not null,
  pointer     text,
  type        text not null check (type in ('null', 'boolean', 'number', 'text', 'object', 'list', 'absent')),
  text        text not null,
  unit        text,
  document_version_id uuid,
  document    text not null,           -- SHA-256 of the bytes, or empty for what a person stated
  ref         text not null,           -- a JSON pointer or a cell
  state       text not null check (state in ('ok', 'error', 'superseded', 'dismissed')),
  message     text,
  author      text not null,
  supersedes  bigint,
  created_at  timestamptz not null default now(),
  primary key (tenant_id, fact_id),
  foreign key (tenant_id, passport_id) references pack.passport,
  foreign key (tenant_id, document_version_id) references pack.document_version
);

create unique index on pack.fact (tenant_id, passport_id, pointer) where state in ('ok', 'error') and pointer is not null;

create index on pack.fact (tenant_id, passport_id, state);

-- Facts that are kept together. That of a single battery adds its own facts to those of its model (the base).
create table pack.snapshot (
  tenant_id   uuid not null,
  snapshot_id uuid not null default gen_random_uuid(),
  passport_id uuid not null,
  base_id     uuid,
  state       text not null default 'open' check (state in ('open', 'sealed')),
  hash        text,
  author      text not null,
  created_at  timestamptz not null default now(),
  sealed_at   timestamptz,
  primary key (tenant_id, snapshot_id),
  check ((state = 'sealed') = (hash is not null and sealed_at is not null)),
  foreign key (tenant_id, passport_id) references pack.passport,
  foreign key (tenant_id, base_id) references pack.snapshot
);

create index on pack.snapshot (tenant_id, passport_id);

create table pack.snapshot_fact (
  tenant_id   uuid not null,
  snapshot_id uuid not null,
  fact_id     bigint not null,
  primary key (tenant_id, snapshot_id, fact_id),
  foreign key (tenant_id, snapshot_id) references pack.snapshot,
  foreign key (tenant_id, fact_id) references pack.fact
);

create table pack.rule_package (
  tenant_id    uuid not null,
  package_id   uuid not null default gen_random_uuid(),
  name         text not null,
  version      text not null,
  state        text not null default 'draft' check (state in ('draft', 'published', 'retired')),
  hash         text not null,
  source       text not null,          -- canonical JSON
  author       text not null,
  created_at   timestamptz not null default now(),
  published_at timestamptz,
  primary key (tenant_id, package_id),
  unique (tenant_id, name, version)
);

-- One version of a passport, from the moment it is asked for. All that its bytes depend on is fixed then.
create table pack.version (
  tenant_id    uuid not null,
  version_id   uuid not null default gen_random_uuid(),
  passport_id  uuid not null,
  number       integer not null,
  snapshot_id  uuid not null,
  package_id   uuid not null,
  key_id       text not null,
  issued_at    timestamptz not null,
  salt_key     bytea not null check (length(salt_key) = 32),
  previous     text,                   -- the hash of the receipt of the version before
  activate     boolean not null,       -- at once, when it is signed
  state        text not null default 'requested'
    check (state in ('requested', 'compiled', 'signed', 'active', 'superseded', 'revoked', 'failed')),
  problem      jsonb,                  -- why it failed, or was revoked
  receipt      bytea,
  receipt_hash text,
  proof        text,                   -- canonical JSON
  link         text,                   -- what its QR code says
  author       text not null,
  created_at   timestamptz not null default now(),
  changed_at   timestamptz not null default now(),
  primary key (tenant_id, version_id),
  unique (tenant_id, passport_id, number),
  check ((receipt is null) = (receipt_hash is null)),
  check (state in ('requested', 'failed') or receipt is not null),
  check (state in ('requested', 'compiled', 'failed') or proof is not null),
  check (state not in ('active', 'superseded') or link is not null),
  foreign key (tenant_id, passport_id) references pack.passport,
  foreign key (tenant_id, snapshot_id) references pack.snapshot,
  foreign key (tenant_id, package_id) references pack.rule_package,
  foreign key (tenant_id, key_id) references pack.signing_key
);

create unique index version_active on pack.version (tenant_id, passport_id) where state = 'active';

-- One under way for each passport, so that it is clear which one the next is based on.
create unique index version_under_way on pack.version (tenant_id, passport_id) where state in ('requested', 'compiled');

create index on pack.version (tenant_id, snapshot_id);

-- The fields of one tier of a version: [pointer, value, salt, leaf] each. A reader gets whole tiers or nothing of them.
create table pack.tier (
  tenant_id  uuid not null,
  version_id uuid not null,
  tier       text not null check (tier in ('public', 'legitimate_interest', 'authority', 'individual')),
  fields     jsonb not null,
  primary key (tenant_id, version_id, tier),
  foreign key (tenant_id, version_id) references pack.version
);

-- A right to see more than the public does, held by whoever has the token. Null for passport_id: all of the tenant.
create table pack.invitation (
  tenant_id   uuid not null,
  invitation_id uuid not null default gen_random_uuid(),
  passport_id uuid,
  reader      text not null check (reader in ('legitimate_interest', 'authority')),
  party       text not null check (length(party) between 1 and 200),
  token_hash  bytea not null unique check (length(token_hash) = 32),
  ends_at     timestamptz not null,
  author      text not null,
  created_at  timestamptz not null default now(),
  primary key (tenant_id, invitation_id),
  foreign key (tenant_id, passport_id) references pack.passport
);

-- What happened to passports; event_id is that of the webhooks.
create table pack.event (
  tenant_id   uuid not null,
  event_id    uuid not null,
  passport_id uuid not null,
  version_id  uuid,
  type        text not null,
  at          timestamptz not null default now(),
  primary key (tenant_id, event_id)
);

create index on pack.event (tenant_id, passport_id, at);

-- Many batteries of one model, from the lines of a sheet. Lines below next_line are done.
create table pack.bulk (
  tenant_id   uuid not null,
  bulk_id     uuid not null default gen_random_uuid(),
  model_id    uuid not null,
  document_version_id uuid not null,
  base_id     uuid not null,
  package_id  uuid not null,
  key_id      text not null,
  issued_at   timestamptz not null,
  activate    boolean not null,
  state       text not null default 'running' check (state in ('running', 'done')),
  next_line   integer not null default 0,
  made        integer not null default 0,
  refused     jsonb not null default '[]',  -- lines that no version was made of: [line, why]
  author      text not null,
  created_at  timestamptz not null default now(),
  primary key (tenant_id, bulk_id),
  foreign key (tenant_id, model_id) references pack.passport,
  foreign key (tenant_id, document_version_id) references pack.document_version,
  foreign key (tenant_id, base_id) references pack.snapshot,
  foreign key (tenant_id, package_id) references pack.rule_package
);

create unique index on pack.version (version_id);

-- The log of each issuer: every receipt that it signed, in a Merkle tree (RFC 6962) that only grows, under signed heads.
-- Who keeps an old head can prove that nothing which was in the log then was changed or taken out since.

create table pack.log_leaf (
  tenant_id  uuid not null,
  index      bigint not null check (index >= 0),
  version_id uuid not null unique,     -- one leaf for each version
  at         timestamptz not null default now(),
  primary key (tenant_id, index),
  foreign key (tenant_id, version_id) references pack.version
);

-- Every whole subtree, once it is whole: level 0 has the leaves. A root or a proof is made of a few of them.
create table pack.log_node (
  tenant_id uuid not null,
  level     smallint not null,
  index     bigint not null,
  hash      bytea not null check (length(hash) = 32),
  primary key (tenant_id, level, index)
);

create index on pack.log_node (tenant_id, hash) where level = 0;

create table pack.tree_head (
  tenant_id uuid not null,
  size      bigint not null check (size > 0),
  root      bytea not null,
  at        timestamptz not null,
  key_id    text not null,
  head      text not null,             -- canonical JSON, with its proof
  primary key (tenant_id, size),
  foreign key (tenant_id, key_id) references pack.signing_key
);

create index on pack.document_version (tenant_id, valid_until) where valid_until is not null and expired_at is null;

create index on pack.fact (tenant_id, document_version_id) where document_version_id is not null;

-- As it was checked last. A battery that has no row of its own is as complete as its model.
create table pack.completeness (
  tenant_id   uuid not null,
  passport_id uuid not null,
  share       smallint not null check (share between 0 and 100),  -- of what is required, in percent
  missing     integer not null,
  errors      integer not null,
  checked_at  timestamptz not null default now(),
  primary key (tenant_id, passport_id),
  foreign key (tenant_id, passport_id) references pack.passport
);

-- A public host belongs to one tenant: to the one that publishes the challenge of its issuer there. Until then the issuer
-- has no key, so nothing is signed in the name of a host that somebody else owns, and no QR code leads there.
create unique index issuer_host on pack.issuer (host) where host_proven_at is not null;

-- How many a tenant may have.
insert into leasehold.quota (what, most) values
  ('passports.invitations', 10000),
  ('passports.packages', 500)
on conflict do nothing;

create trigger quota after insert on pack.invitation referencing new table as made
  for each statement execute function leasehold.enforce_quota('passports.invitations');

create trigger quota after insert on pack.rule_package referencing new table as made
  for each statement execute function leasehold.enforce_quota('passports.packages');
