-- A tenant is a customer. It owns rows; nobody but the operator sees the rows of two tenants.
create table leasehold.tenant (
  tenant_id  uuid primary key,
  name       text not null unique check (name ~ '^[a-z0-9][a-z0-9_.-]{0,62}$'),
  weight     real not null default 1 check (weight between 0.01::real and 100),
  -- what one job of this tenant costs in virtual time: the heavier the tenant, the smaller its step
  stride     integer not null generated always as (round(1000 / weight)::integer) stored,
  max_running integer not null default 100 check (max_running between 1 and 1000000),
  max_queued  integer not null default 100000 check (max_queued between 1 and 1000000000),
  created_at timestamptz not null
);

-- Tenants that have more waiting than their quota. The leader counts about once a second and keeps this list; an
-- enqueue only asks whether its tenant is on it. No counter is updated by every enqueue, so a quota is overshot by what
-- arrives within that second.
create table leasehold.over_quota (
  tenant_id uuid primary key references leasehold.tenant on delete cascade,
  waiting   bigint not null,
  at        timestamptz not null
);

-- Everything a person causes: who did what to which thing.
create table leasehold.audit (
  audit_id  uuid primary key,
  tenant_id uuid,                    -- null: it concerned no tenant
  actor     text not null,
  action    text not null,
  target    text not null,
  detail    jsonb,
  at        timestamptz not null
);
create index audit_by_tenant on leasehold.audit (tenant_id, audit_id);
