-- Gates: so many starts in so much time for a key (the host of a URL, an account), and none while its far end is broken.
--
-- A job that meets a shut gate when its turn comes waits in gated, out of the lane. Each line of gated (one for a gate, lane
-- and tenant) has a bell in gate_bell, for the moment at which the gate lets the next one through; when that has come, the
-- bell goes into the lane (attempt −2) and the claim that meets it takes the first of the line. A slot is taken only by a
-- start, under the gate's lock and at the start's own time: nobody holds one for later, so workers that stood still cannot
-- start all at once what they missed.

alter table leasehold.job add column gate text;         -- asked at every start
alter table leasehold.job add column group_gap_s real;  -- at least so long between two starts of its group

create table leasehold.gate_rule (
  gate        text not null,           -- a gate, or a class of gates: what stands before the colon, and the colon
  tenant_id   uuid,                    -- null: for all tenants together, and before their own
  rate        integer,                 -- so many starts …
  per_s       real,                    -- … in so many seconds; null: any number
  every       interval,                -- the time of one slot, from the two
  burst       integer not null,        -- starts at once after a rest
  failures    integer,                 -- the breaker opens at so many failures; null: there is none …
  ratio       real not null,           -- … if they are this share of the starts …
  window_s    real not null,           -- … of the last one or two windows
  cooldown_s  real not null,           -- open for this long, and up to a fifth more
  probes      integer not null,        -- then so many may try; all must succeed
  updated_at  timestamptz not null,
  unique nulls not distinct (gate, tenant_id)
);

-- The rule of one gate, found by its name, by its class, or made for the gap of a group.
create type leasehold.gate_terms as (
  gate_id bigint, tenant_id uuid, gate text, rule text, rate integer, per_s real, every interval, burst integer,
  failures integer, ratio real, window_s real, cooldown_s real, probes integer
);

-- What a gate knows; of several rows the one with the highest v holds. A new row for each change, because a row that is
-- updated in place leaves a chain of dead versions to walk while somebody holds an old snapshot.
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
  window_at   timestamptz not null,    -- starts are counted in two windows, this one and the one before
  starts      integer not null,
  before_at   timestamptz not null,
  before      integer not null,
  primary key (gate_id, v)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index gate_now_by_name on leasehold.gate_now (tenant_id, gate);

-- What attempts and people say of a gate. Written without a lock when an attempt ends: by those that failed, those that
-- ended while the gate was not closed, and those that were told to come back later.
create table leasehold.gate_word (
  word_id    bigint generated always as identity primary key,
  gate_id    bigint not null,
  started_at timestamptz not null,     -- of the attempt
  at         timestamptz not null,
  failed     boolean,                  -- null: it says nothing of the breaker
  held_until timestamptz               -- nobody passes before
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

create table leasehold.gate_bell (
  gate_id   bigint not null,
  lane      integer not null,
  tenant_id uuid not null,
  at        timestamptz not null,
  primary key (gate_id, lane, tenant_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index gate_bell_by_time on leasehold.gate_bell (at);

create type leasehold.gate_view as (
  gate text, shared boolean, rule text, rate integer, per_s real, burst integer, failures integer, ratio real, window_s real,
  cooldown_s real, probes integer, state text, next_at timestamptz, failed integer, waiting integer
);

alter type leasehold.job_view add attribute gate text;

-- It has gates to pass when the group lets it in: whoever follows waits until it has started.
alter table leasehold.blocked add column gated boolean not null default false;
