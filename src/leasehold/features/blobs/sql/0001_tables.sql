-- Names that keep a body for as long as they stand for it. A name stands for one body, and lets go
-- of it when it gets another. Private to the functions.
create table leasehold.held (
  tenant_id  uuid not null references leasehold.tenant on delete cascade,
  name       text not null check (length(name) between 1 and 200),
  sha256     bytea not null,
  keep_until timestamptz not null,
  primary key (tenant_id, name)
);
create index held_by_body on leasehold.held (tenant_id, sha256);
create index held_by_end on leasehold.held (keep_until);

-- Objects in the object store that no body names: not yet, or no longer. Private to the functions.
create table leasehold.loose_object (
  object_key text primary key,
  since      timestamptz not null
);
