-- Secrets of tenants, and of what features give secrets of its own, such as an endpoint. The value is under a key of its own, and that is
-- under a key which is not in the database; both are bound to tenant and name, so that a row does
-- not open in another's place. Private to the functions.
create table leasehold.secret (
  tenant_id   uuid not null references leasehold.tenant on delete cascade,
  name        text not null check (name ~ '^[a-z0-9][a-z0-9_./-]{0,126}$'),
  -- null: the tenant's own, by a name without a slash; else what it belongs to
  owner_id    uuid,
  key_id      text not null,
  wrapped     bytea not null,
  box         bytea not null check (length(box) <= 70000),
  created_at  timestamptz not null,
  updated_at  timestamptz not null,
  expires_at  timestamptz,
  primary key (tenant_id, name),
  check ((owner_id is null) = (name !~ '/'))
);
create index secret_by_owner on leasehold.secret (owner_id) where owner_id is not null;
create index secret_by_key on leasehold.secret (key_id);

insert into leasehold.quota (what, most) values ('secrets', 1000);
