-- Tenants, queues and workers.

-- Tenants -----------------------------------------------------------------------------------------

-- A tenant is a customer and owns rows. Only the operator reads the rows of several tenants.
create table leasehold.tenant (
  tenant_id   uuid primary key,
  name        text not null unique check (name ~ '^[a-z0-9][a-z0-9_.-]{0,62}$'),
  weight      real not null default 1 check (weight between 0.01::real and 100),
  -- What one job of this tenant costs in virtual time: the heavier the tenant, the smaller its
  -- step.
  stride      integer not null generated always as (round(1000 / weight)::integer) stored,
  paused      boolean not null default false,
  -- The slots of fifteen workers of default size. With a limit below the number of all slots every
  -- claim counts what its tenants run, and claims then wait for each other.
  max_running integer not null default 1500 check (max_running between 1 and 1000000),
  may_run     integer not null
    generated always as (case when paused then 0 else max_running end) stored,
  max_queued  integer not null default 100000 check (max_queued between 1 and 1000000000),
  -- False while over_quota has the tenant. A copy, because every enqueue reads this row anyway and
  -- a look into a second table costs more than finding the tenant. refresh_waiting_counts writes
  -- both.
  may_queue   boolean not null default true,
  -- instead of quota.most
  quotas      jsonb not null default '{}' check (jsonb_typeof(quotas) = 'object'),
  created_at  timestamptz not null
);

-- Tenants that have more waiting than their quota. The leader counts about once a second, and an
-- enqueue only reads the result, so that no counter is updated by every enqueue. A tenant can
-- exceed its quota by what it enqueues within that second.
create table leasehold.over_quota (
  tenant_id uuid primary key references leasehold.tenant on delete cascade,
  waiting   bigint not null,
  at        timestamptz not null
);

-- How many of a thing a tenant may have, unless tenant.quotas says otherwise. Features and packs
-- add rows for things of their own.
create table leasehold.quota (
  what text primary key check (what ~ '^[a-z_]+(\.[a-z_]+)?$'),
  most integer not null check (most >= 0)
);

-- The tenants that a login of the role readonly may read. The login cannot decide it itself: any
-- session may set leasehold.tenant, and a role may change the defaults of its own sessions.
create table leasehold.reader (
  -- need not exist: logins belong to the server, not to a database
  login      name not null,
  tenant_id  uuid not null references leasehold.tenant on delete cascade,
  created_at timestamptz not null,
  primary key (login, tenant_id)
);
create index reader_by_tenant on leasehold.reader (tenant_id);

-- Everything that a person causes: who did what to which thing.
create table leasehold.audit (
  audit_id  uuid primary key,
  tenant_id uuid,                    -- null: it concerned no tenant
  actor     text not null,
  action    text not null,
  target    text not null,
  detail    jsonb,
  at        timestamptz not null
);
create index audit_by_tenant on leasehold.audit (tenant_id, audit_id);

-- Queues and kinds --------------------------------------------------------------------------------

create table leasehold.queue (
  queue       text primary key check (queue ~ '^[a-z0-9][a-z0-9_.-]{0,62}$'),
  paused      boolean not null default false,
  max_running integer check (max_running between 1 and 1000000),
  created_at  timestamptz not null
);

-- One lane for each queue and priority. Both numbers are sequences, because a sequence is not a row
-- that leaves dead versions:
--   clock  the virtual time; it only goes forward, and new work is placed after it
--   floor  where a claim starts to look; no row is left below it
create table leasehold.lane (
  lane     integer primary key,
  queue    text not null references leasehold.queue,
  priority smallint not null check (priority between 0 and 3),
  clock    regclass not null,
  floor    regclass not null,
  unique (queue, priority)
);

-- The options of a kind's jobs, unless an enqueue says otherwise. Workers write them when they
-- register, so that a program in any language gets the same defaults.
create table leasehold.kind (
  kind        text primary key,
  options     jsonb not null,
  paused      boolean not null default false,
  max_running integer check (max_running between 1 and 1000000),
  updated_at  timestamptz not null
);
create index kind_limited on leasehold.kind (kind) where paused or max_running is not null;

-- Workers and maintenance -------------------------------------------------------------------------

create table leasehold.worker (
  worker_id  uuid primary key,
  tenant_id  uuid references leasehold.tenant on delete cascade,  -- null: it serves all
  key_id     text,                   -- the API key it was registered with; null: it speaks SQL
  name       text not null,
  version    text not null,
  queues     text[] not null,
  kinds      text[] not null,
  slots      integer not null,
  lease_s    real not null,          -- silence after which its leases are taken
  started_at timestamptz not null,
  beat_at    timestamptz not null,
  ended_at   timestamptz             -- stopped, or declared lost
) with (fillfactor = 50);
create index worker_alive on leasehold.worker (beat_at) where ended_at is null;
create index worker_by_tenant
on leasehold.worker (tenant_id) where tenant_id is not null and ended_at is null;

-- Work that one process at a time should do. Two that did it would harm nothing.
create table leasehold.duty (
  duty      text primary key,
  worker_id uuid not null,
  until     timestamptz not null
) with (fillfactor = 50);

-- The days that have partitions of their own.
create table leasehold.day (
  day            date primary key,
  results_purged boolean not null default false
);
