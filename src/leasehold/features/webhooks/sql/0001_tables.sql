-- Webhooks: events of a tenant on their way to its endpoints. Private to the functions.

-- Where a tenant's events are sent.
create table leasehold.endpoint (
  endpoint_id    uuid primary key,
  tenant_id      uuid not null references leasehold.tenant on delete cascade,
  url            text not null check (url ~ '^https?://' and length(url) <= 2048),
  -- types that it wants: job.dead, job.*, *
  events         text[] not null check (cardinality(events) between 1 and 100),
  format         text not null check (format in ('standard', 'stripe', 'sha256', 'ed25519')),
  header_names   jsonb not null,     -- signature, id, timestamp: other names than the format's own
  headers        text[] not null,    -- names of further headers; their values are sealed in secret
  max_in_flight  smallint not null check (max_in_flight between 1 and 100),
  max_per_minute integer check (max_per_minute between 1 and 60000),  -- null: as fast as it answers
  ordered        boolean not null default false,  -- one delivery after the other
  timeout_s      real not null check (timeout_s between 1 and 60),
  -- after so long with nothing but failures
  disable_after  interval not null check (disable_after between '1 hour' and '1 year'),
  state          text not null check (state in ('enabled', 'paused', 'disabled')),
  reason         text,               -- why it is not enabled
  state_at       timestamptz not null,
  created_at     timestamptz not null,
  -- How it does: changed while it fails, and by its first success.
  answers        boolean not null default false,  -- the newest attempt succeeded
  failing_since  timestamptz,        -- nothing has succeeded since
  failures       integer not null default 0,
  resting_until  timestamptz,        -- nothing is sent before
  next_slot      timestamptz,        -- when the newest of those that found it busy comes back
  paced_at       timestamptz,        -- when the next delivery would be due if they came evenly
  mean_ms        real not null default 100  -- what a delivery takes, while it is busy
) with (fillfactor = 70);
create index endpoint_by_tenant on leasehold.endpoint (tenant_id, endpoint_id);

-- What happened, as receivers are told. The transaction that causes it writes the row.
create table leasehold.webhook_event (
  event_id     uuid primary key,
  tenant_id    uuid not null references leasehold.tenant on delete cascade,
  type         text not null,
  subject_type text not null,
  subject_id   text not null,
  -- number of the job's event: a job that is retried ends more than once
  subject_seq  integer,
  occurred_at  timestamptz not null,
  data         jsonb not null
);
create unique index webhook_event_once
on leasehold.webhook_event (subject_id, subject_seq) where subject_seq is not null;
create index webhook_event_by_tenant on leasehold.webhook_event (tenant_id, event_id);

-- One event on its way to one endpoint. Without a job it waits: for its endpoint to be resumed, or
-- for room in its tenant's quota.
create table leasehold.delivery (
  delivery_id   uuid primary key,
  tenant_id     uuid not null,
  event_id      uuid not null references leasehold.webhook_event on delete cascade,
  endpoint_id   uuid not null references leasehold.endpoint on delete cascade,
  job_id        uuid,
  state         text not null check (state in ('pending', 'delivered', 'failed')),
  reason        text,                -- why it failed
  sending_until timestamptz,         -- an attempt is under way; a dead worker's is over by then
  created_at    timestamptz not null,
  ended_at      timestamptz,
  unique (event_id, endpoint_id)
) with (fillfactor = 80);
create index delivery_by_endpoint on leasehold.delivery (endpoint_id, delivery_id);
create index delivery_by_tenant on leasehold.delivery (tenant_id, delivery_id);
create index delivery_pending
on leasehold.delivery (endpoint_id, delivery_id) where state = 'pending';
create index delivery_waiting
on leasehold.delivery (endpoint_id, delivery_id) where job_id is null and state = 'pending';
create index delivery_sending on leasehold.delivery (endpoint_id) where sending_until is not null;

-- What was sent and what came back, redacted. Inserted once, never updated.
create table leasehold.delivery_attempt (
  delivery_id     uuid not null references leasehold.delivery on delete cascade,
  n               integer not null,
  tenant_id       uuid not null,
  at              timestamptz not null,
  request_headers jsonb not null,
  status          smallint,
  response_body   text check (length(response_body) <= 20000),
  error           text,
  duration_ms     integer not null,
  primary key (delivery_id, n)
);

-- The secrets that an endpoint signs with, and the values of its headers, go with it.
alter table leasehold.secret
add foreign key (owner_id) references leasehold.endpoint on delete cascade;

-- How far collect_job_events has come: one row.
create table leasehold.collected (
  one      boolean primary key default true check (one),
  snapshot pg_snapshot not null
);
insert into leasehold.collected (snapshot) values (pg_current_snapshot());

insert into leasehold.quota (what, most) values ('endpoints', 100);

-- What start_delivery_attempt says: whether to send, and if so what, where and signed with which
-- secrets.
create type leasehold.sending as (
  verdict text, delay_s double precision, reason text, event_id uuid, endpoint_id uuid, url text,
  format text, header_names jsonb, timeout_s real, event jsonb, names text[], key_ids text[],
  wrapped bytea[], boxes bytea[]
);
