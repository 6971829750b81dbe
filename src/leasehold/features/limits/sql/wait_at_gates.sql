-- Take these locked ready rows of a lane out of it: each job waits at its gate, and its line has a bell for that moment.
-- internal
create or replace function leasehold.wait_at_gates(p_rows tid[], p_jobs uuid[], p_gates bigint[], p_until timestamptz[]) returns void
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_indexscan = on set enable_nestloop = on set jit = off
as $$
begin
  with gone as (
    delete from leasehold.ready where ctid = any(p_rows)
    returning lane, job_id, tenant_id, attempt, max_attempts, events
  ),
  waits as materialized (
    select gone.*, w.gate_id, w.until from gone join unnest(p_jobs, p_gates, p_until) w(job_id, gate_id, until) on w.job_id = gone.job_id
  ),
  lined as (
    insert into leasehold.gated (gate_id, lane, tenant_id, job_id, attempt, max_attempts, events)
    select gate_id, lane, tenant_id, job_id, attempt, max_attempts, events from waits
  )
  insert into leasehold.gate_bell as b (gate_id, lane, tenant_id, at)
  select gate_id, lane, tenant_id, min(until) from waits group by gate_id, lane, tenant_id order by 1, 2, 3
  on conflict (gate_id, lane, tenant_id) do update set at = excluded.at where excluded.at < b.at;
end
$$;
