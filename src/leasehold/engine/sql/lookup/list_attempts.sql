-- The ended attempts of one job of the current tenant, oldest first.
-- for: api, worker, readonly
create or replace function leasehold.list_attempts(p_job uuid)
returns table (
  token bigint, attempt smallint, outcome text, error jsonb, worker text, started_at timestamptz, finished_at timestamptz
)
language plpgsql stable as $$
#variable_conflict use_column
declare
  v_tenant uuid := leasehold.current_tenant();
begin
  return query
    select a.token, a.attempt, a.outcome, a.error, coalesce(w.name, a.worker_id::text), a.started_at, a.finished_at
    from leasehold.attempt a left join leasehold.worker w on w.worker_id = a.worker_id
    where a.job_id = p_job and a.tenant_id = v_tenant
    order by a.started_seq;
end
$$;
