-- Workers without a database: they speak HTTP, each under the key that it was registered with.
alter table leasehold.worker add column tenant_id uuid references leasehold.tenant on delete cascade;  -- null: serves all
alter table leasehold.worker add column key_id text;  -- null: it speaks SQL
create index worker_by_tenant on leasehold.worker (tenant_id) where tenant_id is not null and ended_at is null;

-- A key that lets a worker in names the queues that it may work on.
alter table leasehold.api_key add column queues text[];
alter table leasehold.api_key add check (coalesce(cardinality(queues) > 0, false) = ('work' = any(scopes)));
alter type leasehold.key_view add attribute queues text[];

-- These take the queues too now.
drop function if exists leasehold.create_key(text, bytea, text, text, text[], timestamptz);
drop function if exists leasehold.put_key(uuid, text, bytea, text, text, text[], timestamptz);

-- How much an attempt has logged over HTTP: see remote_event.
alter table leasehold.lease add column logged bigint not null default 0;

-- Log lines of all jobs of a tenant by their time, and which transaction wrote what a handler said: see tenant_news.
create index event_log on leasehold.event (tenant_id, at, job_id, seq) where type = 'log';
alter table leasehold.event add column xid bigint not null default (pg_current_xact_id()::text::bigint);
create index event_by_xid on leasehold.event using brin (xid) with (pages_per_range = 32, autosummarize = on);

-- A ticket without a job is for a stream of the whole tenant.
alter table leasehold.ticket alter column job_id drop not null;
