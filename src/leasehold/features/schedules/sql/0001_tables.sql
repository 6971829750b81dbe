-- A schedule makes jobs at the ticks of a cron line, at an interval, or once. Programs compute the
-- ticks, because they know cron lines and time zones. The functions here decide that each tick
-- makes its job once.
create table leasehold.schedule (
  schedule_id  uuid primary key,
  tenant_id    uuid not null references leasehold.tenant on delete cascade,
  name         text not null check (name ~ '^[a-z0-9][a-z0-9_.-]{0,62}$'),
  -- what a job of it is like
  kind         text not null,
  payload      jsonb not null,
  options      jsonb not null,
  -- the member of the payload that gets the tick
  tick_as      text check (length(tick_as) between 1 and 100),
  -- when it ticks: one of the first three
  cron         text check (length(cron) between 1 and 200),
  every_s      integer check (every_s between 1 and 31622400),
  at           timestamptz,
  zone         text not null check (length(zone) between 1 and 64),
  starts_at    timestamptz,
  ends_at      timestamptz,
  jitter_s     integer not null check (jitter_s between 0 and 86400),
  overlap      text not null check (overlap in ('skip', 'queue', 'cancel_old')),
  catch_up     text not null check (catch_up in ('none', 'one', 'all')),
  catch_up_max integer not null check (catch_up_max between 1 and 1000),
  -- whose it is, and where it stands
  origin       text not null check (origin in ('api', 'code')),
  declared     jsonb,                 -- what the code declared last
  paused       boolean not null,
  -- counts the changes; a tick that was computed from another revision does not fire
  revision     integer not null,
  next_at      timestamptz,           -- null: it has no tick left
  last_at      timestamptz,
  last_job     uuid,
  created_at   timestamptz not null,
  updated_at   timestamptz not null,
  -- kept, so that the code that declares it does not bring it back
  removed_at   timestamptz,
  unique (tenant_id, name),
  check (num_nonnulls(cron, every_s, at) = 1),
  check (ends_at > starts_at),
  -- Several jobs at once are what the other policies would drop or cancel.
  check (catch_up <> 'all' or overlap = 'queue'),
  check ((origin = 'code') = (declared is not null)),
  check (removed_at is null or next_at is null),
  -- Ticks only go forward, whatever a clock, a zone database or a program says: none comes again.
  check (next_at > last_at)
) with (fillfactor = 80);
create index schedule_due on leasehold.schedule (next_at) where not paused;

-- What became of the newest ticks of each schedule.
create table leasehold.tick (
  schedule_id uuid not null references leasehold.schedule on delete cascade,
  tick_at     timestamptz not null,
  tenant_id   uuid not null,
  outcome     text not null check (outcome in ('fired', 'skipped', 'missed', 'refused')),
  job_id      uuid,                   -- fired: the job; skipped: the one that had not ended
  detail      text,                   -- refused: why there is no job
  at          timestamptz not null,
  primary key (schedule_id, tick_at)
);

insert into leasehold.quota (what, most) values ('schedules', 1000);

create type leasehold.schedule_view as (
  schedule_id uuid, tenant_id uuid, name text, kind text, payload jsonb, options jsonb,
  tick_as text, cron text, every_s integer, at timestamptz, zone text, starts_at timestamptz,
  ends_at timestamptz, jitter_s integer, overlap text, catch_up text, catch_up_max integer,
  origin text, edited boolean, paused boolean, revision integer, next_at timestamptz,
  last_at timestamptz, last_job uuid, created_at timestamptz, updated_at timestamptz
);
