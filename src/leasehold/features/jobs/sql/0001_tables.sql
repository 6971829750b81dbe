-- The jobs that a bulk action was confirmed for, frozen when they were counted. Removed by purge: after an hour if nobody
-- began it, else with the history.
create table leasehold.selection (
  selection_id uuid primary key,
  tenant_id    uuid not null,
  action       text not null,
  filter       jsonb not null,
  n            integer not null,           -- jobs that were selected
  selected_at  timestamptz not null,
  job_id       uuid unique,                -- the job that carries it out; null until somebody confirms
  done         integer not null default 0, -- of n
  changed      integer not null default 0  -- of n: in another state since, or gone, and left alone
);
create index selection_by_time on leasehold.selection (selected_at);

-- Their ids, the oldest job first. A piece is removed by the transaction that acts on its jobs.
create table leasehold.selected (
  selection_id uuid not null references leasehold.selection on delete cascade,
  piece        integer not null,
  jobs         uuid[] not null,
  primary key (selection_id, piece)
);
