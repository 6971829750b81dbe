-- How long documents are valid, how much of what its category requires a passport has, and exports.

alter table pack.document_version
  add column valid_until timestamptz,  -- null: for ever
  add column expired_at  timestamptz;  -- when we told that its time is over
create index on pack.document_version (tenant_id, valid_until) where valid_until is not null and expired_at is null;

create index on pack.fact (tenant_id, document_version_id) where document_version_id is not null;

-- As it was checked last. A battery that has no row of its own is as complete as its model.
create table pack.completeness (
  tenant_id   uuid not null,
  passport_id uuid not null,
  share       smallint not null check (share between 0 and 100),  -- of what is required, in percent
  missing     integer not null,
  errors      integer not null,
  checked_at  timestamptz not null default now(),
  primary key (tenant_id, passport_id),
  foreign key (tenant_id, passport_id) references pack.passport
);

-- An export shows the place of each version in the log, as the page does.
grant execute on function pack.log_of(uuid) to leasehold_worker;
grant execute on function pack.log_nodes(text, smallint[], bigint[]) to leasehold_worker;
