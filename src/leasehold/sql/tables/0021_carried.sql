-- A copy of what a claim hands out, so that it need not find the job first. For jobs that were just
-- enqueued; whoever puts a job back into ready leaves it out. Null in kind: the job itself is asked.

alter table leasehold.ready add column kind text;
alter table leasehold.ready add column payload jsonb;
alter table leasehold.ready add column version smallint;
alter table leasehold.ready add column timeout_s real;
alter table leasehold.ready add column traceparent text;

-- It is read from its text at every insert, and nobody but the functions writes here.
alter table leasehold.job drop constraint job_check;
