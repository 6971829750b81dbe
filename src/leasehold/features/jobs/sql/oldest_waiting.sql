-- The job that could run and has waited longest, or no row: of the tenant, or of all for the operator. Among jobs of one
-- tenant and lane the turn is the age.
-- for: api, operator
-- settings: read
create or replace function leasehold.oldest_waiting()
returns table (job_id uuid, kind text, queue text, waits_since timestamptz)
language plpgsql stable as $$
#variable_conflict use_column
declare
  v_next uuid[] := leasehold.ready_ids(leasehold.tenant_filter(), 50);
begin
  return query
    select j.job_id, j.kind, j.queue, j.run_at
    from leasehold.job j
    where j.job_id = any(v_next)
    order by j.run_at
    limit 1;
end
$$;
