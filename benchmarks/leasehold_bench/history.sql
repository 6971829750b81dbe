-- Finished jobs, as if they had been run between $5 (midnight UTC) and $6 (now): $1 to $2 of $3 in all, for these tenants
-- ($4) in turn. Their ids are spread evenly over that time: they stand in today's partitions, in the indexes that new jobs
-- go to.
with job as materialized (
  select
    n, leasehold.new_id(leasehold.micros(at)) as job_id, ($4::uuid[])[1 + n % cardinality($4::uuid[])] as tenant_id, at
  from generate_series($1::bigint, $2::bigint) n cross join lateral (
    select $5::timestamptz + ($6::timestamptz - $5::timestamptz) * (n::double precision / $3::bigint) as at
  ) moment
),
jobs as (
  insert into leasehold.job (
    job_id, tenant_id, kind, queue, priority, payload, created_at, run_at,
    max_attempts, retry_base_s, retry_cap_s, timeout_s, version
  )
  select job_id, tenant_id, 'bench.noop', 'default', 2, '{"number": 0}', at, at, 5, 1, 3600, 600, 1 from job
)
insert into leasehold.outcome (
  job_id, tenant_id, state, finished_at, seq, token, attempt, worker_id, started_at, started_seq, started_xid
)
select job_id, tenant_id, 'succeeded', at, 3, n, 1, '00000000-0000-0000-0000-000000000001', at, 2, 0 from job
