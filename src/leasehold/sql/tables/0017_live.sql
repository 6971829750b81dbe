-- What streams of a whole tenant read: which transaction made a job, began an attempt and ended it. Like outcome and event: a
-- look tells what is visible to its snapshot and was not to the one before. What was there already is nobody's news.

alter table leasehold.job add column xid bigint not null default 0;
alter table leasehold.job alter column xid set default (pg_current_xact_id()::text::bigint);
create index job_by_xid on leasehold.job using brin (xid) with (pages_per_range = 32, autosummarize = on);

alter table leasehold.lease add column xid bigint not null default 0;
alter table leasehold.lease alter column xid set default (pg_current_xact_id()::text::bigint);

alter table leasehold.attempt add column started_xid bigint not null default 0;  -- that of its lease
alter table leasehold.attempt add column xid bigint not null default 0;
alter table leasehold.attempt alter column xid set default (pg_current_xact_id()::text::bigint);
create index attempt_by_xid on leasehold.attempt using brin (xid) with (pages_per_range = 32, autosummarize = on);

-- A ticket may be for a flow's stream.
alter table leasehold.ticket add column flow_id uuid;
alter table leasehold.ticket add check (num_nonnulls(job_id, flow_id) <= 1);
drop function if exists leasehold.create_ticket(bytea, uuid, text, double precision);
drop function if exists leasehold.take_ticket(bytea);
