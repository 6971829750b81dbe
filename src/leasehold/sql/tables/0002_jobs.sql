-- What happened: rows that are inserted once and never updated.
--
-- Partitioned by range of job_id. A job_id is a UUIDv7, so a range of ids is a range of time: partitions are days,
-- the primary key is the id alone, and a join on job_id prunes by itself.

create table leasehold.job (
  job_id       uuid primary key,
  tenant_id    uuid not null,
  kind         text not null,
  queue        text not null,
  priority     smallint not null,
  payload      jsonb,                -- null when it is large: then payload_ref names its body
  payload_ref  bytea,
  created_at   timestamptz not null,
  run_at       timestamptz not null,
  expires_at   timestamptz,          -- not started by then: canceled
  max_attempts smallint not null,
  retry_base_s real not null,        -- delay before attempt k + 1 is about retry_base_s × 2^(k − 1) …
  retry_cap_s  real not null,        -- … but never above this
  timeout_s    real not null,        -- hard limit of one attempt
  version      smallint not null,    -- of the payload's shape
  key          text,                 -- idempotency key
  tags         text[],
  copied_from  uuid,
  traceparent  text,
  check ((payload is null) <> (payload_ref is null))
) partition by range (job_id);
create index job_by_tenant on leasehold.job (tenant_id, job_id);

-- One row when an attempt ends. A snoozed or released attempt is not counted, so its number comes again: the token
-- tells the two apart. Both numbers of the attempt's events are kept: see append_event.
create table leasehold.attempt (
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
  primary key (job_id, token)
) partition by range (job_id);
-- Attempts are appended in the order of time, so a block range index costs next to nothing; roll_up reads by it.
create index attempt_by_time on leasehold.attempt using brin (finished_at) with (pages_per_range = 32, autosummarize = on);

-- One row when a job ends.
create table leasehold.outcome (
  job_id      uuid primary key,
  tenant_id   uuid not null,
  state       text not null,         -- succeeded failed dead canceled
  finished_at timestamptz not null,
  result      jsonb,
  result_ref  bytea,
  error       jsonb,                 -- why it ended without an attempt: expired, canceled while it waited
  seq         integer not null
) partition by range (job_id);
-- Successes are most of all rows and are found through the job; the others are looked for.
create index outcome_not_succeeded on leasehold.outcome (tenant_id, state, job_id) where state <> 'succeeded';

-- What a handler says while it runs. Lifecycle events are not stored: events_since derives them.
create table leasehold.event (
  job_id    uuid not null,
  seq       integer not null,
  tenant_id uuid not null,
  type      text not null,
  message   text,
  progress  real,
  data      jsonb,
  at        timestamptz not null,
  primary key (job_id, seq)
) partition by range (job_id);

-- Large payloads and results, by their digest. Never shared between tenants: a digest must not tell one of another's.
create table leasehold.body (
  tenant_id  uuid not null,
  sha256     bytea not null,
  bytes      bytea not null,
  media_type text not null,
  at         timestamptz not null,   -- when it was put last
  primary key (tenant_id, sha256)
);
create index body_by_time on leasehold.body (at);

-- What the charts read: attempts that ended, by minute. Filled by roll_up.
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

create table leasehold.job_default partition of leasehold.job default;
create table leasehold.attempt_default partition of leasehold.attempt default;
create table leasehold.outcome_default partition of leasehold.outcome default;
create table leasehold.event_default partition of leasehold.event default;
