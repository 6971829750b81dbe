-- Jobs: what happened, where they are, and their keys.

-- What happened -----------------------------------------------------------------------------------

-- Rows of these four tables are inserted once and never updated. They are partitioned by range of
-- job_id. A job_id is a UUIDv7, so a range of ids is a range of time: a partition is a day, the
-- primary key is the id alone, and a join on job_id prunes by itself.
--
-- xid is the transaction that wrote a row. A reader that remembers a snapshot finds by it what
-- became visible since: see tenant_changes and collect_job_events. A block range index costs almost
-- nothing where values grow with the order of the rows.

create table leasehold.job (
  job_id       uuid primary key,
  tenant_id    uuid not null,
  kind         text not null,
  queue        text not null,
  priority     smallint not null,
  -- Where its row was placed in ready, for good; null: it was not placed. See ready.
  pass         bigint,
  payload      jsonb,                -- null when it is large: then payload_ref names its body
  payload_ref  bytea,
  created_at   timestamptz not null,
  run_at       timestamptz not null,
  expires_at   timestamptz,          -- not started by then: canceled
  max_attempts smallint not null,
  -- the delay before attempt k + 1 is about retry_base_s × 2^(k − 1) …
  retry_base_s real not null,
  retry_cap_s  real not null,        -- … and never above this
  timeout_s    real not null,        -- hard limit of one attempt
  version      smallint not null,    -- of the payload's shape
  key          text,                 -- idempotency key
  unique_key   text,                 -- at most one job waits under it: see unique_job
  tags         text[],
  meta         jsonb,
  copied_from  uuid,
  traceparent  text,
  group_key    text,                 -- jobs of a group start in order, group_limit at once
  group_limit  smallint,             -- what the first job in line says, counts
  -- when this job is dead or failed, the group waits for a person
  group_hold   boolean,
  group_gap_s  real,                 -- least time between two starts of the group
  gate         text,                 -- to pass at every start
  xid          bigint not null default (pg_current_xact_id()::text::bigint)
) partition by range (job_id);
create index job_by_tenant on leasehold.job (tenant_id, job_id);
create index job_by_xid
on leasehold.job using brin (xid) with (pages_per_range = 32, autosummarize = on);

-- One row when an attempt ends. One that succeeded without an error to report has none: the row of
-- outcome tells of it. A snoozed or released attempt is not counted, so its number comes again; the
-- token tells the two apart. started_seq and finished_seq are the numbers of the attempt's events:
-- see append_event.
create table leasehold.attempt_row (
  job_id       uuid not null,
  token        bigint not null,
  tenant_id    uuid not null,
  attempt      smallint not null,
  worker_id    uuid not null,
  started_at   timestamptz not null,
  finished_at  timestamptz not null,
  outcome      text not null,        -- succeeded failed errored snoozed released canceled lost
  error        jsonb,
  started_seq  integer not null,
  finished_seq integer not null,
  started_xid  bigint not null default 0,  -- xid of its lease
  xid          bigint not null default (pg_current_xact_id()::text::bigint),
  primary key (job_id, token)
) partition by range (job_id);
-- Attempts are appended in the order of time; roll_up_job_counts reads by it.
create index attempt_row_by_time on leasehold.attempt_row
using brin (finished_at) with (pages_per_range = 32, autosummarize = on);
create index attempt_row_by_xid on leasehold.attempt_row
using brin (xid) with (pages_per_range = 32, autosummarize = on);

-- One row when a job ends. Most jobs end with a first attempt that succeeds, so this row has the
-- columns of that attempt; they are null when the job ended otherwise.
create table leasehold.outcome (
  job_id      uuid primary key,
  tenant_id   uuid not null,
  state       text not null,         -- succeeded failed dead canceled
  finished_at timestamptz not null,
  result      jsonb,
  result_ref  bytea,
  -- why it ended without an attempt: expired, canceled while it waited
  error       jsonb,
  seq         integer not null,
  token       bigint,
  attempt     smallint,
  worker_id   uuid,
  started_at  timestamptz,
  started_seq integer,
  started_xid bigint,
  xid         bigint not null default (pg_current_xact_id()::text::bigint)
) partition by range (job_id);
-- Successes are most of all rows and are found through the job; people look for the others.
create index outcome_not_succeeded
on leasehold.outcome (tenant_id, state, job_id) where state <> 'succeeded';
create index outcome_by_state on leasehold.outcome (state, job_id) where state <> 'succeeded';
create index outcome_by_time on leasehold.outcome
using brin (finished_at) with (pages_per_range = 32, autosummarize = on);
create index outcome_by_xid
on leasehold.outcome using brin (xid) with (pages_per_range = 32, autosummarize = on);

-- What a handler reports while it runs. Events of the life of a job are not stored: events_since
-- derives them from the other tables.
create table leasehold.event (
  job_id    uuid not null,
  seq       integer not null,
  tenant_id uuid not null,
  type      text not null,
  message   text,
  progress  real,
  data      jsonb,
  at        timestamptz not null,
  xid       bigint not null default (pg_current_xact_id()::text::bigint),
  primary key (job_id, seq)
) partition by range (job_id);
create index event_log on leasehold.event (tenant_id, at, job_id, seq) where type = 'log';
create index event_by_xid
on leasehold.event using brin (xid) with (pages_per_range = 32, autosummarize = on);

create table leasehold.job_default partition of leasehold.job default;
create table leasehold.attempt_row_default partition of leasehold.attempt_row default;
create table leasehold.outcome_default partition of leasehold.outcome default;
create table leasehold.event_default partition of leasehold.event default;

-- All ended attempts, read with the rights of the reader. A function that joins the attempts of a
-- job calls attempts_of, because the planner does not look into this view by the rows of another
-- table.
create view leasehold.attempt with (security_invoker = true) as
select
  job_id, token, tenant_id, attempt, worker_id, started_at, finished_at, outcome, error,
  started_seq, finished_seq, started_xid, xid
from leasehold.attempt_row
union all
select
  job_id, token, tenant_id, attempt, worker_id, started_at, finished_at, 'succeeded', null,
  started_seq, seq, started_xid, xid
from leasehold.outcome where token is not null;

-- Large payloads and results, and bytes that handlers put, by digest. Tenants share no body,
-- because a digest would tell one tenant what another has.
create table leasehold.body (
  tenant_id  uuid not null,
  sha256     bytea not null,         -- of the bytes before compression
  bytes      bytea,                  -- null: they are in the object store
  object_key text unique,
  coding     text check (coding = 'zlib'),   -- null: not compressed
  size       bigint,                 -- before compression; null: the length of bytes
  media_type text not null,
  named      boolean not null default true,  -- by a payload or a result: it goes with the history
  keep_until timestamptz,            -- not removed before
  at         timestamptz not null,   -- when it was put last
  primary key (tenant_id, sha256),
  check ((bytes is null) = (object_key is not null))
);
create index body_by_time on leasehold.body (at);
create index body_by_end on leasehold.body (keep_until) where not named;

-- Ended attempts by minute, for charts. roll_up_job_counts fills it.
create table leasehold.stat (
  minute    timestamptz not null,
  tenant_id uuid not null,
  queue     text not null,
  kind      text not null,
  outcome   text not null,
  n         integer not null,
  wait_ms   bigint not null,         -- sum over the n attempts: from run_at to their start
  run_ms    bigint not null,         -- sum: from their start to their end
  primary key (minute, tenant_id, queue, kind, outcome)
);

-- Where jobs are ----------------------------------------------------------------------------------

-- An unfinished job has a row in one of these tables, or in one of the features flows and limits;
-- one that has ended has an outcome. They are private to the functions. Rows are inserted and
-- deleted, and an update moves none, so that a long transaction elsewhere leaves no chain of dead
-- versions.
--
-- bound: the job has a group, a gate or a flow, so its end is looked at more closely.

-- A job that may start. It keeps its row from the enqueue to the claim, so the job itself says
-- where the row is: in the lane of its queue and priority, at its pass. That and its id are the
-- primary key, and such a placed row needs no entry in the index of jobs. ready_at and ready_of
-- find both kinds of rows.
--
-- No single index says that a job has one row. A placed row is written once, with its job, whose id
-- is unique. All others are written by the transaction that deleted the job's row, here or
-- elsewhere, and are unique among themselves. No row is placed later, and neither queue nor
-- priority of a job ever changes. Jobs of a group or a gate are not placed: claims look for them by
-- the index.
create table leasehold.ready (
  lane         integer not null,
  pass         bigint not null,      -- the virtual time of this job's turn
  job_id       uuid not null,
  tenant_id    uuid not null,
  -- attempts counted so far; −1 and −2: a bell, see the feature limits
  attempt      smallint not null,
  max_attempts smallint not null,
  events       integer not null,     -- number of the job's newest event
  bound        boolean not null default false,
  placed       boolean not null default false,
  -- A copy of what a claim hands out, so that it need not read the job. Null in kind: it reads the
  -- job. Only an enqueue writes the copy; a job that comes back has none.
  kind         text,
  payload      jsonb,
  version      smallint,
  timeout_s    real,
  traceparent  text,
  primary key (lane, pass, job_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create unique index ready_job on leasehold.ready (job_id) where not placed;
-- No pass is null. "nulls first" tells this index from the primary key: an enqueue that asks for a
-- tenant's newest pass in that order cannot get a plan that walks through the rows of all tenants.
-- Hardly two entries are alike, and without deduplication a full page is not searched for them.
create index ready_tenant
on leasehold.ready (lane, tenant_id, pass nulls first) with (deduplicate_items = off);

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
  cancel_requested boolean not null default false,
  bound            boolean not null default false,
  logged           bigint not null default 0,  -- how much over HTTP: see remote_event
  xid              bigint not null default (pg_current_xact_id()::text::bigint)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
-- What a heartbeat asks for. Other questions about a worker's leases are rare and scan from the
-- token floor: every job would pay for an index.
create index lease_cancel on leasehold.lease (worker_id) where cancel_requested;

create sequence leasehold.token_seq;
-- No lease has a token below this one. A hint that the leader moves, like the floors of the lanes.
create sequence leasehold.token_floor minvalue 0 start 0;
select setval('leasehold.token_floor', 0);

-- Jobs whose turn came while their tenant or their kind ran as many as it may. They wait out of the
-- lane, so that the lane goes on for others; an attempt that ends brings the next one back.
create table leasehold.parked (
  tenant_id    uuid not null,
  job_id       uuid not null unique,
  lane         integer not null,
  attempt      smallint not null,
  max_attempts smallint not null,
  events       integer not null,
  bound        boolean not null default false,
  kind         text,                 -- for which it waits; null: for its tenant
  primary key (tenant_id, job_id)    -- the oldest first, however often a job is parked
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index parked_by_tenant on leasehold.parked (tenant_id, job_id) where kind is null;
create index parked_by_kind on leasehold.parked (kind, job_id) where kind is not null;

create table leasehold.deferred (
  run_at       timestamptz not null,
  job_id       uuid not null unique,
  tenant_id    uuid not null,
  lane         integer not null,
  attempt      smallint not null,
  max_attempts smallint not null,
  events       integer not null,
  why          text not null,        -- scheduled errored snoozed released lost
  bound        boolean not null default false,
  primary key (run_at, job_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index deferred_by_tenant on leasehold.deferred (tenant_id, job_id);

-- Keys --------------------------------------------------------------------------------------------

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

-- Keys of which at most one job waits: see insert_unique_jobs. The row names the newest job of the key.
create table leasehold.unique_job (
  tenant_id uuid not null,
  kind      text not null,
  key       text not null,
  job_id    uuid,                    -- null only within the transaction that makes the row
  primary key (tenant_id, kind, key)
);
create index unique_job_by_job on leasehold.unique_job (job_id);

-- What the functions return -----------------------------------------------------------------------

create type leasehold.granted as (
  token bigint, job_id uuid, tenant_id uuid, kind text, queue text, attempt smallint,
  max_attempts smallint, payload jsonb, version smallint, timeout_s real, traceparent text
);
create type leasehold.job_view as (
  job_id uuid, tenant_id uuid, kind text, queue text, priority smallint, state text,
  attempt smallint, max_attempts smallint, payload jsonb, result jsonb, error jsonb, progress real,
  message text, created_at timestamptz, run_at timestamptz, started_at timestamptz,
  finished_at timestamptz, expires_at timestamptz, version smallint, key text, tags text[],
  copied_from uuid, traceparent text, cancel_requested boolean, group_key text, gate text, meta jsonb
);
