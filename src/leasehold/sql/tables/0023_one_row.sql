-- Most attempts are the one that succeeded, and with it the job has ended: one row of outcome tells both. All other attempts
-- have a row of their own, in attempt_row. The view attempt shows them all; for those of one job, see attempts_of.

do $$  -- the table, its partitions and their indexes
declare
  v_one record;
begin
  for v_one in
    select c.relname, case when c.relkind in ('i', 'I') then 'index' else 'table' end as what
    from pg_class c join pg_class job on job.oid = 'leasehold.job'::regclass
    where c.relnamespace = job.relnamespace and c.relkind in ('r', 'p', 'i', 'I') and c.relname ~ '^attempt(_|$)'
  loop
    execute format('alter %s leasehold.%I rename to %I', v_one.what, v_one.relname, regexp_replace(v_one.relname, '^attempt', 'attempt_row'));
  end loop;
end
$$;

-- Of the attempt that succeeded. Null: the job has ended otherwise, or its attempts all have rows of their own.
alter table leasehold.outcome add column token bigint;
alter table leasehold.outcome add column attempt smallint;
alter table leasehold.outcome add column worker_id uuid;
alter table leasehold.outcome add column started_at timestamptz;
alter table leasehold.outcome add column started_seq integer;
alter table leasehold.outcome add column started_xid bigint;
create index outcome_by_time on leasehold.outcome using brin (finished_at) with (pages_per_range = 32, autosummarize = on);

create view leasehold.attempt with (security_invoker = true) as
select
  job_id, token, tenant_id, attempt, worker_id, started_at, finished_at, outcome, error, started_seq, finished_seq, started_xid, xid
from leasehold.attempt_row
union all
select
  job_id, token, tenant_id, attempt, worker_id, started_at, finished_at, 'succeeded', null, started_seq, seq, started_xid, xid
from leasehold.outcome where token is not null;
grant select on leasehold.attempt to leasehold_api, leasehold_worker, leasehold_operator, leasehold_readonly;

-- Functions of the release before write here until they are replaced, and those that are running until they return.
create rule put_row as on insert to leasehold.attempt do instead
insert into leasehold.attempt_row (
  job_id, token, tenant_id, attempt, worker_id, started_at, finished_at, outcome, error, started_seq, finished_seq, started_xid, xid
)
values (
  new.job_id, new.token, new.tenant_id, new.attempt, new.worker_id, new.started_at, new.finished_at, new.outcome, new.error,
  new.started_seq, new.finished_seq, coalesce(new.started_xid, 0), coalesce(new.xid, pg_current_xact_id()::text::bigint)
);
create rule drop_row as on delete to leasehold.attempt do instead
delete from leasehold.attempt_row where job_id = old.job_id and token = old.token;
