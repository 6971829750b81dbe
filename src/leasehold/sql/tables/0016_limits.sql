-- Limits beside a tenant's own: so many of a queue or of a kind at once, and tenants and kinds that are paused.

alter table leasehold.tenant add column paused boolean not null default false;
alter table leasehold.tenant add column may_run integer not null
  generated always as (case when paused then 0 else max_running end) stored;

alter table leasehold.queue add column max_running integer check (max_running between 1 and 1000000);

alter table leasehold.kind add column paused boolean not null default false;
alter table leasehold.kind add column max_running integer check (max_running between 1 and 1000000);
create index kind_limited on leasehold.kind (kind) where paused or max_running is not null;

-- Of a kind that is paused, or runs as often as it may: these wait for it. Without a kind: for their tenant.
alter table leasehold.parked add column kind text;
create index parked_by_tenant on leasehold.parked (tenant_id, job_id) where kind is null;
create index parked_by_kind on leasehold.parked (kind, job_id) where kind is not null;
