-- Battery passports. What was signed, sealed or published cannot be changed any more: the triggers at the end see to it.

-- Who signs: one for each tenant. Its did:web leads to /v1/passports/issuers/<slug>/did.json on its host.
create table pack.issuer (
  tenant_id uuid primary key,
  slug      text not null unique check (slug ~ '^[a-z0-9][a-z0-9-]{0,39}$'),
  name      text not null check (length(name) between 1 and 200),
  host      text not null,            -- links of QR codes lead there
  did       text not null
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
create index on pack.passport (gtin, serial) where gtin is not null;
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

-- -- what cannot be changed ------------------------------------------------------------------------------------------

create function pack.refuse(p_what text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception '%', p_what using errcode = 'LH409', hint = 'make a new version of it instead';
end
$$;
grant execute on function pack.refuse(text) to leasehold_api, leasehold_worker;

-- A sealed snapshot is never changed again, nor is what belongs to it.
create function pack.keep_snapshot() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if old.state = 'sealed' then
    perform pack.refuse(format('snapshot %s is sealed', old.snapshot_id));
  end if;
  return coalesce(new, old);
end
$$;
create trigger keep before update or delete on pack.snapshot for each row execute function pack.keep_snapshot();

create function pack.keep_snapshot_fact() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_of pack.snapshot_fact := coalesce(new, old);
begin
  -- The lock makes a seal that is about to commit wait for us, or us for it.
  if (select state from pack.snapshot where tenant_id = v_of.tenant_id and snapshot_id = v_of.snapshot_id for share) = 'sealed' then
    perform pack.refuse(format('snapshot %s is sealed', v_of.snapshot_id));
  end if;
  return v_of;
end
$$;
create trigger keep before insert or update or delete on pack.snapshot_fact
  for each row execute function pack.keep_snapshot_fact();

-- A fact is what it is: only its state moves on, and never back.
create function pack.keep_fact() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_as_it_was pack.fact := new;
begin
  if tg_op = 'DELETE' then
    perform pack.refuse(format('fact %s is kept', old.fact_id));
  end if;
  v_as_it_was.state := old.state;
  if v_as_it_was is distinct from old or old.state in ('superseded', 'dismissed') and new.state <> old.state then
    perform pack.refuse(format('fact %s is kept as it is', old.fact_id));
  end if;
  return new;
end
$$;
create trigger keep before update or delete on pack.fact for each row execute function pack.keep_fact();

create function pack.keep_rule_package() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_as_it_was pack.rule_package := new;
begin
  if old.state = 'draft' then
    return coalesce(new, old);
  end if;
  v_as_it_was.state := old.state;
  if tg_op = 'DELETE' or v_as_it_was is distinct from old or new.state = 'draft' then
    perform pack.refuse(format('rule package %s %s is published', old.name, old.version));
  end if;
  return new;
end
$$;
create trigger keep before update or delete on pack.rule_package for each row execute function pack.keep_rule_package();

-- Versions go forward, and what was written once stays.
create function pack.keep_version() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c_steps constant text[] := array[
    'requested compiled', 'requested failed', 'compiled signed', 'compiled failed', 'signed active', 'signed revoked',
    'active superseded', 'active revoked', 'superseded revoked'
  ];
begin
  if tg_op = 'DELETE' then
    perform pack.refuse(format('version %s is kept', old.version_id));
  end if;
  if new.state <> old.state and old.state || ' ' || new.state <> all(c_steps) then
    perform pack.refuse(format('version %s is %s, and cannot become %s', old.version_id, old.state, new.state));
  end if;
  if (new.tenant_id, new.version_id, new.passport_id, new.number, new.snapshot_id, new.package_id, new.key_id, new.issued_at,
      new.salt_key, new.activate, new.author, new.created_at)
     is distinct from
     (old.tenant_id, old.version_id, old.passport_id, old.number, old.snapshot_id, old.package_id, old.key_id, old.issued_at,
      old.salt_key, old.activate, old.author, old.created_at)
     or new.previous is distinct from old.previous
     or old.receipt is not null and (new.receipt, new.receipt_hash) is distinct from (old.receipt, old.receipt_hash)
     or old.proof is not null and new.proof is distinct from old.proof
     or old.link is not null and new.link is distinct from old.link then
    perform pack.refuse(format('version %s is kept as it is', old.version_id));
  end if;
  new.changed_at := clock_timestamp();
  return new;
end
$$;
create trigger keep before update or delete on pack.version for each row execute function pack.keep_version();

-- For tables whose rows never change: tiers, events, documents as they were received.
create function pack.keep_row() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform pack.refuse(format('rows of %s are kept as they are', tg_table_name));
  return null;
end
$$;
create trigger keep before update or delete on pack.tier for each row execute function pack.keep_row();
create trigger keep before update or delete on pack.event for each row execute function pack.keep_row();
create trigger keep before delete on pack.document_version for each row execute function pack.keep_row();
create trigger keep before delete on pack.signing_key for each row execute function pack.keep_row();

create function pack.keep_document_version() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if (new.document_id, new.number, new.sha256, new.media_type, new.author, new.received_at) is distinct from
     (old.document_id, old.number, old.sha256, old.media_type, old.author, old.received_at)
     or new.bytes <> old.bytes then
    perform pack.refuse(format('version %s of a document is kept as it is', old.number));
  end if;
  return new;
end
$$;
create trigger keep_bytes before update on pack.document_version for each row execute function pack.keep_document_version();

create function pack.keep_signing_key() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if (new.key_id, new.issuer, new.public_key, new.secret, new.not_before) is distinct from
     (old.key_id, old.issuer, old.public_key, old.secret, old.not_before)
     or old.not_after is not null and new.not_after is distinct from old.not_after
     or old.revoked_at is not null and new.revoked_at is distinct from old.revoked_at then
    perform pack.refuse(format('key %s is kept as it is', old.key_id));
  end if;
  return new;
end
$$;
create trigger keep_key before update on pack.signing_key for each row execute function pack.keep_signing_key();

-- -- what strangers see ----------------------------------------------------------------------------------------------
-- Above row security, so each gives away only what is written here. A passport is found by its id or its numbers.

-- The reader that a token makes of whoever has it; without one the public, null when the token does not hold (any more).
create function pack.reader_of(p_tenant uuid, p_passport uuid, p_token_hash bytea) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when p_token_hash is null then 'public' else (
    select reader from pack.invitation
    where token_hash = p_token_hash and tenant_id = p_tenant and coalesce(passport_id, p_passport) = p_passport
      and ends_at > now()
  ) end
$$;

create function pack.tiers_of(p_reader text) returns text[]
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case p_reader
    when 'public' then array['public']
    when 'legitimate_interest' then array['public', 'legitimate_interest', 'individual']
    when 'authority' then array['public', 'legitimate_interest', 'authority']
    else array[]::text[]
  end
$$;

-- A published version with the tiers that the reader may see: the one asked for, else the active, else the newest.
create function pack.shown(p_passport uuid, p_version uuid, p_token_hash bytea)
returns table (
  reader text, passport_id uuid, name text, category text, gtin text, serial text, issuer text, issuer_name text,
  issuer_slug text, version_id uuid, number integer, state text, reason text, issued_at timestamptz, link text, receipt bytea,
  proof text, fields jsonb
)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select
    r.reader, p.passport_id, p.name, p.category, p.gtin, p.serial, i.did, i.name, i.slug, v.version_id, v.number, v.state,
    case when v.state = 'revoked' then v.problem ->> 'reason' end, v.issued_at, v.link, v.receipt, v.proof,
    (
      select coalesce(jsonb_object_agg(t.tier, t.fields), '{}')
      from pack.tier t
      where t.tenant_id = v.tenant_id and t.version_id = v.version_id and t.tier = any(pack.tiers_of(r.reader))
    )
  from pack.passport p
  cross join lateral (select pack.reader_of(p.tenant_id, p.passport_id, p_token_hash) as reader) r
  join pack.issuer i on i.tenant_id = p.tenant_id
  cross join lateral (
    select * from pack.version v
    where v.tenant_id = p.tenant_id and v.passport_id = p.passport_id and v.link is not null
      and v.state in ('active', 'superseded', 'revoked') and (p_version is null or v.version_id = p_version)
    order by v.state = 'active' desc, v.number desc
    limit 1
  ) v
  where p.passport_id = p_passport
$$;
revoke all on function pack.shown(uuid, uuid, bytea) from public;
grant execute on function pack.shown(uuid, uuid, bytea) to leasehold_api;

-- The passport that a GS1 Digital Link on this host means. Two makers that claim one number get nobody there.
create function pack.find_by_gtin(p_host text, p_gtin text, p_serial text) returns uuid
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select min(p.passport_id::text)::uuid
  from pack.passport p
  join pack.issuer i on i.tenant_id = p.tenant_id and i.host = p_host
  where p.gtin = p_gtin and p.serial = p_serial
    and exists (select from pack.version v where v.tenant_id = p.tenant_id and v.passport_id = p.passport_id and v.link is not null)
  having count(*) = 1
$$;
revoke all on function pack.find_by_gtin(text, text, text) from public;
grant execute on function pack.find_by_gtin(text, text, text) to leasehold_api;

-- The keys of an issuer, by its slug or its did.
create function pack.public_keys(p_slug text, p_did text)
returns table (issuer text, public_key bytea, not_before timestamptz, not_after timestamptz, revoked_at timestamptz)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select i.did, k.public_key, k.not_before, k.not_after, k.revoked_at
  from pack.issuer i
  join pack.signing_key k on k.tenant_id = i.tenant_id and k.issuer = i.did
  where i.slug = p_slug or i.did = p_did
  order by k.not_before
$$;
revoke all on function pack.public_keys(text, text) from public;
grant execute on function pack.public_keys(text, text) to leasehold_api;

-- Whether a published version still holds.
create function pack.state_of(p_version uuid) returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select state from pack.version
  where version_id = p_version and link is not null and state in ('active', 'superseded', 'revoked')
$$;
revoke all on function pack.state_of(uuid) from public;
grant execute on function pack.state_of(uuid) to leasehold_api;
create unique index on pack.version (version_id);

-- Whether somebody else signs under this slug: slugs stand in public addresses, so this is no secret.
create function pack.is_taken(p_slug text) returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from pack.issuer
    where slug = p_slug and tenant_id <> nullif(current_setting('leasehold.tenant', true), '')::uuid
  )
$$;
revoke all on function pack.is_taken(text) from public;
grant execute on function pack.is_taken(text) to leasehold_api;
