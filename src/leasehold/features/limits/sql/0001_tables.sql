-- Limits: groups and gates. Private to the functions. The limits of queues, kinds and tenants are
-- columns of the engine's tables, and jobs that meet one wait in parked.

-- Groups ------------------------------------------------------------------------------------------

-- A group runs a limited number of its jobs at once, in the order in which they were enqueued.
--
-- blocked keeps the order, from the enqueue on. In its lane such a job has only a bell: a ready row
-- with an id of its own (see leasehold.bell) and attempt −1. A claim that meets a bell looks for
-- the first job of the group, under the group's lock. That job takes a place, which it keeps
-- through all its attempts, and starts in the bell's turn. A transaction that gives a place back
-- rings a new bell, without a lock and without a look: a bell that finds no job is removed.

create sequence leasehold.blocked_seq;
create table leasehold.blocked (
  group_id     bigint not null,
  -- taken after the transaction has its id, so it grows from one to the next
  seq          bigint not null,
  job_id       uuid not null unique,
  tenant_id    uuid not null,
  lane         integer not null,
  -- its turn, which it keeps: a bell is rung there, or right behind the clock
  pass         bigint,
  attempt      smallint not null,
  max_attempts smallint not null,
  events       integer not null,
  group_limit  smallint not null,
  group_hold   boolean not null,
  -- gates to pass when it is let in: the next waits until it has started
  gated        boolean not null default false,
  primary key (group_id, seq)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index blocked_by_tenant on leasehold.blocked (tenant_id, job_id);

create table leasehold.place (
  job_id      uuid primary key,
  group_id    bigint not null,
  tenant_id   uuid not null,
  lane        integer not null,
  group_limit smallint not null,
  group_hold  boolean not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index place_by_group on leasehold.place (group_id);

-- Gates -------------------------------------------------------------------------------------------

-- A gate limits the starts per period for a key (the host of a URL, an account), and lets none
-- through while the remote service is failing.
--
-- A job that meets a shut gate when its turn comes waits in gated, out of the lane. Each line of
-- gated (one for a gate, lane and tenant) has a bell in gate_bell, for the moment at which the gate
-- lets the next one through. Then the bell goes into the lane (attempt −2), and the claim that
-- meets it takes the first of the line. Only a start takes a slot, under the gate's lock and at the
-- start's own time. No slot is held for later, so workers that stood still cannot start all at once
-- what they missed.

create table leasehold.gate_rule (
  -- a gate, or a class of gates: what stands before the colon, and the colon
  gate        text not null,
  tenant_id   uuid,                    -- null: for all tenants together, and before their own
  rate        integer,                 -- at most this many starts …
  per_s       real,                    -- … in this many seconds; null: any number
  every       interval,                -- the time of one slot, from the two
  burst       integer not null,        -- starts at once after a rest
  failures    integer,                 -- the breaker opens at this many failures (null: never) …
  ratio       real not null,           -- … if they are this share of the starts …
  window_s    real not null,           -- … of the last one or two windows
  cooldown_s  real not null,           -- open for this long, and up to a fifth more
  probes      integer not null,        -- then this many may try; all must succeed
  updated_at  timestamptz not null,
  unique nulls not distinct (gate, tenant_id)
);
create index gate_rule_by_tenant on leasehold.gate_rule (tenant_id, gate);

-- The rule of one gate, found by its name, by its class, or made for the gap of a group.
create type leasehold.gate_terms as (
  gate_id bigint, tenant_id uuid, gate text, rule text, rate integer, per_s real, every interval,
  burst integer, failures integer, ratio real, window_s real, cooldown_s real, probes integer
);

-- The state of a gate; of several rows the one with the highest v holds. Each change adds a row,
-- because a row that is updated in place leaves a chain of dead versions to walk while another
-- transaction holds an old snapshot.
create table leasehold.gate_now (
  gate_id     bigint not null,
  v           bigint not null,
  tenant_id   uuid,
  gate        text not null,
  tat         timestamptz not null,    -- the next slot: a start is conforming from here on
  last_at     timestamptz not null,    -- the newest start
  state       text not null check (state in ('closed', 'open', 'half-open')),
  since       timestamptz not null,    -- attempts that started before say nothing about this state
  probe_at    timestamptz,             -- not closed: when the next probes may go
  probes_left integer not null,        -- half-open: probes that may still go
  -- starts are counted in two windows, this one and the one before
  window_at   timestamptz not null,
  starts      integer not null,
  before_at   timestamptz not null,
  before      integer not null,
  primary key (gate_id, v)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index gate_now_by_name on leasehold.gate_now (tenant_id, gate);

-- What attempts and people report of a gate. Written without a lock when an attempt ends: by those
-- that failed, those that ended while the gate was not closed, and those that are to come back
-- later.
create table leasehold.gate_word (
  word_id    bigint generated always as identity primary key,
  gate_id    bigint not null,
  started_at timestamptz not null,     -- of the attempt
  at         timestamptz not null,
  failed     boolean,                  -- null: it says nothing of the breaker
  held_until timestamptz               -- no job passes before
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index gate_word_by_gate on leasehold.gate_word (gate_id);

create table leasehold.gated (
  gate_id      bigint not null,
  lane         integer not null,
  tenant_id    uuid not null,
  job_id       uuid not null unique,   -- the oldest first, however often a job comes back
  attempt      smallint not null,
  max_attempts smallint not null,
  events       integer not null,
  primary key (gate_id, lane, tenant_id, job_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index gated_by_tenant on leasehold.gated (tenant_id, job_id);

create table leasehold.gate_bell (
  gate_id   bigint not null,
  lane      integer not null,
  tenant_id uuid not null,
  at        timestamptz not null,
  primary key (gate_id, lane, tenant_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index gate_bell_by_time on leasehold.gate_bell (at);

insert into leasehold.quota (what, most) values ('gates', 1000);

-- What the functions return.
create type leasehold.gate_view as (
  gate text, shared boolean, rule text, rate integer, per_s real, burst integer, failures integer,
  ratio real, window_s real, cooldown_s real, probes integer, state text, next_at timestamptz,
  failed integer, waiting integer
);
