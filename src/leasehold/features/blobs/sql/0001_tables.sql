-- When a robots.txt was asked for: whoever wants fresher rules asks again. Those of before are of no known age.
alter table leasehold.robots add column asked_at timestamptz not null default '-infinity';

-- Bodies that stay as long as a name stands for them. A name stands for one body, and lets go of it when it gets another.
-- Private to the functions.
create table leasehold.held (
  tenant_id  uuid not null references leasehold.tenant on delete cascade,
  name       text not null check (length(name) between 1 and 200),
  sha256     bytea not null,
  keep_until timestamptz not null,
  primary key (tenant_id, name)
);
create index held_by_body on leasehold.held (tenant_id, sha256);
create index held_by_end on leasehold.held (keep_until);
