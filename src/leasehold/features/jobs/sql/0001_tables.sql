-- Bulk actions on jobs. Private to the functions.

-- The jobs that a bulk action was confirmed for, frozen when they were counted. purge removes it:
-- after an hour if the action was not started, else with the history.
create table leasehold.selection (
  selection_id uuid primary key,
  tenant_id    uuid not null,
  action       text not null,
  filter       jsonb not null,
  n            integer not null,           -- jobs that were selected
  selected_at  timestamptz not null,
  -- the job that carries it out; null before it is confirmed
  job_id       uuid unique,
  done         integer not null default 0, -- of n
  changed      integer not null default 0  -- of n: in another state since, or gone, and left alone
);
create index selection_by_time on leasehold.selection (selected_at);

-- Their ids, the oldest job first. The transaction that acts on the jobs of a piece removes the
-- piece.
create table leasehold.selected (
  selection_id uuid not null references leasehold.selection on delete cascade,
  piece        integer not null,
  jobs         uuid[] not null,
  primary key (selection_id, piece)
);
