-- Cells: databases that each hold this whole schema, with the work of some tenants. The first one is called home. It keeps the
-- directory: which other cells there are, where each is now, and who lives there. Everywhere else the directory is empty.
-- All of this is private to the functions.

create table leasehold.cell (
  cell       text primary key check (cell ~ '^[a-z0-9][a-z0-9_-]{0,62}$' and cell <> 'home'),
  url        text not null,          -- where it is, without a login: everybody comes with their own
  epoch      integer not null default 1 check (epoch >= 1),  -- one more with each move
  next_url   text,                   -- where it is being moved to
  created_at timestamptz not null
);

-- Tenants that live in a cell. Whoever is not here lives at home.
create table leasehold.resident (
  tenant_id  uuid primary key,
  name       text not null unique check (name ~ '^[a-z0-9][a-z0-9_.-]{0,62}$'),
  cell       text not null references leasehold.cell,
  created_at timestamptz not null
);

-- What this database itself is: open; arriving (a copy that nobody may use yet); leaving (open, and being copied); closed (it
-- is elsewhere now: every write is refused, see close_cell). Never part of the copy.
create table leasehold.here (
  one   boolean primary key default true check (one),
  state text not null default 'open' check (state in ('arriving', 'open', 'leaving', 'closed')),
  epoch integer not null default 1,
  cell  text                         -- whose copy it is; null: it is none
);
insert into leasehold.here default values;

create type leasehold.cell_view as (
  cell text, url text, epoch integer, next_url text, tenants bigint, created_at timestamptz
);
