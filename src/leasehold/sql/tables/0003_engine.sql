-- Where every unfinished job is now: private to the functions, no role has a grant on these.
-- A job stands in exactly one of ready, parked, lease, deferred, or it has an outcome. Rows are inserted and deleted,
-- never moved by UPDATE, so that a long transaction elsewhere cannot make the engine walk dead versions.

create table leasehold.queue (
  queue      text primary key check (queue ~ '^[a-z0-9][a-z0-9_.-]{0,62}$'),
  paused     boolean not null default false,
  created_at timestamptz not null
);

-- One per (queue, priority). Both numbers are sequences, because a sequence is not a row that bloats:
--   clock  virtual time; only forward; new work is placed after it
--   floor  where a claim starts to look; everything below is known to be gone
create table leasehold.lane (
  lane     integer primary key,
  queue    text not null references leasehold.queue,
  priority smallint not null check (priority between 0 and 3),
  clock    regclass not null,
  floor    regclass not null,
  unique (queue, priority)
);

create table leasehold.ready (
  lane         integer not null,
  pass         bigint not null,      -- virtual time at which it is this job's turn
  job_id       uuid not null,
  tenant_id    uuid not null,
  attempt      smallint not null,    -- attempts counted so far
  max_attempts smallint not null,
  events       integer not null,     -- number of the job's newest event
  primary key (lane, pass, job_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create unique index ready_job on leasehold.ready (job_id);
create index ready_tenant on leasehold.ready (lane, tenant_id, pass);

create table leasehold.lease (
  token            bigint primary key,
  job_id           uuid not null unique,
  tenant_id        uuid not null,
  lane             integer not null,
  worker_id        uuid not null,
  attempt          smallint not null,  -- this attempt's number, from 1
  max_attempts     smallint not null,
  events           integer not null,
  started_seq      integer not null,
  started_at       timestamptz not null,
  deadline         timestamptz not null,
  cancel_requested boolean not null default false
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
-- What a beat asks for. Other questions about a worker's leases are rare and scan from the token floor: an index for them
-- would be paid for by every job.
create index lease_cancel on leasehold.lease (worker_id) where cancel_requested;

-- Jobs whose turn came while their tenant ran as many as it may. They wait here, out of the lane, so that the lane
-- goes on for the others; an attempt of the tenant that ends brings the next one back.
create table leasehold.parked (
  tenant_id    uuid not null,
  job_id       uuid not null unique,
  lane         integer not null,
  attempt      smallint not null,
  max_attempts smallint not null,
  events       integer not null,
  primary key (tenant_id, job_id)    -- the oldest first, however often a job is parked
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

create table leasehold.deferred (
  run_at       timestamptz not null,
  job_id       uuid not null unique,
  tenant_id    uuid not null,
  lane         integer not null,
  attempt      smallint not null,
  max_attempts smallint not null,
  events       integer not null,
  why          text not null,          -- scheduled errored snoozed released lost
  primary key (run_at, job_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- What the jobs of a kind are like unless an enqueue says otherwise. Workers write it when they register, so that
-- whoever enqueues, in whatever language, gets the same defaults.
create table leasehold.kind (
  kind       text primary key,
  options    jsonb not null,
  updated_at timestamptz not null
);

create table leasehold.worker (
  worker_id  uuid primary key,
  name       text not null,
  version    text not null,
  queues     text[] not null,
  kinds      text[] not null,
  slots      integer not null,
  lease_s    real not null,            -- silence after which its leases are taken
  started_at timestamptz not null,
  beat_at    timestamptz not null,
  ended_at   timestamptz               -- stopped, or declared lost
) with (fillfactor = 50);
create index worker_alive on leasehold.worker (beat_at) where ended_at is null;

create sequence leasehold.token_seq;
-- No lease has a token below this one. A hint that the leader moves, like the floors of the lanes.
create sequence leasehold.token_floor minvalue 0 start 0;
select setval('leasehold.token_floor', 0);

-- The same key within its window is the same job; with another payload it is a conflict.
create table leasehold.idempotency (
  tenant_id   uuid not null,
  kind        text not null,
  key         text not null,
  fingerprint bytea not null,
  job_id      uuid not null,
  expires_at  timestamptz not null,
  primary key (tenant_id, kind, key)
);
create index idempotency_by_time on leasehold.idempotency (expires_at);

-- Work that one process at a time should do, though two doing it would harm nothing.
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

-- What the functions hand out.
create type leasehold.enqueued as (job_id uuid, state text, created boolean);
create type leasehold.granted as (
  token bigint, job_id uuid, tenant_id uuid, kind text, queue text, attempt smallint, max_attempts smallint,
  payload jsonb, version smallint, timeout_s real, traceparent text
);
create type leasehold.job_view as (
  job_id uuid, tenant_id uuid, kind text, queue text, priority smallint, state text, attempt smallint, max_attempts smallint,
  payload jsonb, result jsonb, error jsonb, progress real, message text,
  created_at timestamptz, run_at timestamptz, started_at timestamptz, finished_at timestamptz, expires_at timestamptz,
  version smallint, key text, tags text[], copied_from uuid, traceparent text, cancel_requested boolean
);
