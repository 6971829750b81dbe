-- How long these jobs waited for the attempts with these tokens, in seconds from run_at; null where it is not the first
-- attempt of its job, or the job is gone. A worker that is watched asks for a sample.
-- for: worker
-- settings: index
create or replace function leasehold.list_pickup_delays(p_jobs uuid[], p_tokens bigint[]) returns double precision[]
language sql stable as $$
  select array_agg(
    case when coalesce(l.started_at, a.started_at) is not null
        and not exists (select from leasehold.attempt o where o.job_id = j.job_id and o.token < g.token)
      then greatest(extract(epoch from coalesce(l.started_at, a.started_at) - j.run_at), 0)
    end order by g.n
  )
  from unnest(p_jobs, p_tokens) with ordinality g(job_id, token, n)
  left join leasehold.job j on j.job_id = g.job_id
  left join leasehold.lease l on l.token = g.token
  left join lateral leasehold.attempts_of(g.job_id) a on a.token = g.token
$$;
