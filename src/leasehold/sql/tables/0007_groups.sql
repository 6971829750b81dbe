-- Groups: so many jobs of a group at once, in the order in which they were asked for.
--
-- The order is kept in blocked, from the enqueue on. In its lane such a job has only a bell: a ready row with an id of its
-- own (see leasehold.bell) and attempt −1. A claim that meets a bell asks the group for its first job, and only under the
-- group's lock. That job takes a place, which it keeps through all its attempts, and starts in the bell's turn. Whoever
-- gives a place back rings a new bell, without a lock and without a look: one that finds nobody is just gone.

alter table leasehold.job add column group_key text;       -- its jobs run in order, so many at once
alter table leasehold.job add column group_limit smallint; -- how many; what the job at the head says, counts
alter table leasehold.job add column group_hold boolean;   -- when this job is dead or failed, the group waits for a person

-- bound: the job has a group, so its end is looked at more closely
alter table leasehold.ready add column bound boolean not null default false;
alter table leasehold.lease add column bound boolean not null default false;
alter table leasehold.parked add column bound boolean not null default false;
alter table leasehold.deferred add column bound boolean not null default false;

create sequence leasehold.blocked_seq;
create table leasehold.blocked (
  group_id     bigint not null,
  seq          bigint not null,        -- taken after the transaction has its id, so it grows from one to the next
  job_id       uuid not null unique,
  tenant_id    uuid not null,
  lane         integer not null,
  attempt      smallint not null,
  max_attempts smallint not null,
  events       integer not null,
  group_limit  smallint not null,
  group_hold   boolean not null,
  primary key (group_id, seq)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

create table leasehold.place (
  job_id      uuid primary key,
  group_id    bigint not null,
  tenant_id   uuid not null,
  lane        integer not null,
  group_limit smallint not null,
  group_hold  boolean not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index place_by_group on leasehold.place (group_id);

alter type leasehold.job_view add attribute group_key text;
