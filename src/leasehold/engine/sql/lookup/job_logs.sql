-- Log lines of one job of the current tenant after a number, oldest first.
-- for: api, worker, readonly
-- settings: index
create or replace function leasehold.job_logs(p_job uuid, p_after integer default 0, p_limit integer default 1000)
returns table (job_id uuid, kind text, attempt smallint, seq integer, at timestamptz, level text, message text, fields jsonb)
language plpgsql stable as $$
#variable_conflict use_column
declare
  v_job leasehold.job := leasehold.require_job(p_job);
begin
  return query
    select p_job, v_job.kind, leasehold.attempt_at(p_job, e.seq), e.seq, e.at, e.data ->> 'level', e.message, e.data - 'level'
    from leasehold.event e
    where e.job_id = p_job and e.type = 'log' and e.seq > p_after
    order by e.seq
    limit p_limit;
end
$$;
