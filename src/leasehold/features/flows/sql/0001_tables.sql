-- Flows: jobs that wait for each other, for people, for signals, for a time.
--
-- A step of a flow is a job. Until its turn it stands in waiting, and dep has a row for each parent
-- that has not ended. The transaction that ends a parent deletes that row. Nothing is counted, so
-- there is no row that all steps of a wide flow would update. The end of a flow waits like a step,
-- under the flow's id, for the steps that no other step waits for. See update_flow_of_ended_jobs
-- and settle_steps.

create table leasehold.flow (
  flow_id     uuid primary key,
  tenant_id   uuid not null references leasehold.tenant on delete cascade,
  name        text not null check (name ~ '^[a-z0-9][a-z0-9_.-]{0,62}$'),
  state       text not null check (state in ('running', 'succeeded', 'failed', 'canceled')),
  reason      text,                  -- why it failed or was canceled
  deadline    timestamptz,           -- not over by then: failed
  created_at  timestamptz not null,
  finished_at timestamptz
) with (fillfactor = 80);
create index flow_by_tenant on leasehold.flow (tenant_id, flow_id);
create index flow_running on leasehold.flow (deadline) where state = 'running';

create table leasehold.step (
  job_id    uuid primary key,
  flow_id   uuid not null,
  tenant_id uuid not null,
  place     integer not null,        -- in the order in which people wrote them
  name      text check (length(name) between 1 and 200),
  -- job; or what it waits for then: approval signal sleep; join: nothing
  what      text not null,
  wait      jsonb,                   -- how long, for what
  unique (flow_id, name)
);
create index step_of_flow on leasehold.step (flow_id, place, job_id);

-- The dependencies as they were requested, kept with the flow.
create table leasehold.edge (
  flow_id    uuid not null,
  child      uuid not null,
  parent     uuid not null,
  on_failure text not null check (on_failure in ('fail', 'skip', 'continue')),
  primary key (flow_id, child, parent)
);

-- The dependencies that are still missing. Rows are inserted and deleted, and never locked in
-- another way: see settle_steps.
create table leasehold.dep (
  parent     uuid not null,
  child      uuid not null,
  on_failure text not null,
  primary key (parent, child)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index dep_of_child on leasehold.dep (child, parent);

-- Steps whose turn has not come, and ends of flows. The transaction that deletes the row decides
-- what becomes of the step.
create table leasehold.waiting (
  job_id       uuid primary key,     -- or a flow's id
  tenant_id    uuid not null,
  lane         integer,
  attempt      smallint not null default 0,
  max_attempts smallint not null default 0,
  events       integer not null default 0,
  what         text not null default 'parents'
    check (what in ('parents', 'end', 'approval', 'signal', 'sleep')),
  since        timestamptz,          -- it waits for a person, a signal or a time
  until        timestamptz,
  signal       text,
  key          text
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index waiting_until on leasehold.waiting (until) where until is not null;
create index waiting_for_signal
on leasehold.waiting (tenant_id, signal, key, job_id) where what = 'signal';
create index waiting_for_people on leasehold.waiting (tenant_id, job_id) where what = 'approval';
create index waiting_approvals on leasehold.waiting (job_id) where what = 'approval';
create index waiting_by_tenant on leasehold.waiting (tenant_id, job_id) where what <> 'end';

-- Steps that are not to run when their turn comes, and why.
create table leasehold.unwanted (job_id uuid not null, error jsonb not null);
create index unwanted_job on leasehold.unwanted (job_id);

-- Steps, or ends of flows, whose last parents are being ended by several transactions at once, none
-- of which can tell that it is the last.
create table leasehold.unsettled (child uuid not null);

-- Flows that are to end before all is done. The first row says how. There may be several, so that
-- no transaction waits for another's lock.
create table leasehold.stop (
  flow_id uuid not null,
  n       bigint generated always as identity,
  state   text not null check (state in ('failed', 'canceled')),
  reason  text not null,
  primary key (flow_id, n)
);

-- Signals that no step waited for yet.
create table leasehold.signal (
  signal_id uuid primary key,
  tenant_id uuid not null references leasehold.tenant on delete cascade,
  name      text not null,
  key       text not null,
  payload   jsonb not null,
  sent_at   timestamptz not null
);
create index signal_for on leasehold.signal (tenant_id, name, key, signal_id);

-- What happened to flows. Many transactions write at once; write_flow_events gives the rows numbers
-- and makes events of them.
create table leasehold.news (
  n         bigint generated always as identity primary key,
  flow_id   uuid not null,
  tenant_id uuid not null,
  type      text not null,
  message   text,
  data      jsonb,
  at        timestamptz not null
);

-- A step as it is requested: after has the places of its parents, all of them before its own.
create type leasehold.asked_step as (
  place integer, name text, kind text, payload jsonb, options jsonb, after integer[],
  on_failure text, wait jsonb
);
create type leasehold.flow_view as (
  flow_id uuid, tenant_id uuid, name text, state text, reason text, stopping boolean,
  deadline timestamptz, created_at timestamptz, finished_at timestamptz, counts jsonb
);
