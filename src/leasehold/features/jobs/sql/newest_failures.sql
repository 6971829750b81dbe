-- The newest jobs that ended as failed or dead, at most so many, each with its error; of all tenants where none is given.
-- internal
-- settings: custom plan
create or replace function leasehold.newest_failures(p_tenant uuid, p_before uuid, p_most integer)
returns table (
  job_id uuid, tenant_id uuid, kind text, state text, error jsonb, finished_at timestamptz, fingerprint text
)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
    select j.job_id, j.tenant_id, j.kind, e.state, e.error, e.finished_at, leasehold.fingerprint(j.kind, e.error)
    from (
      select o.job_id, o.state, o.finished_at, coalesce(o.error, (
        select a.error from leasehold.attempt a where a.job_id = o.job_id order by a.token desc limit 1
      )) as error
      from (
        select ended.*
        from unnest(array['failed', 'dead']) s
        cross join lateral (
          select * from leasehold.outcome o
          where o.state = s and o.state <> 'succeeded' and o.job_id < p_before and (p_tenant is null or o.tenant_id = p_tenant)
          order by o.job_id desc
          limit p_most
        ) ended
        order by ended.job_id desc
        limit p_most
      ) o
    ) e
    join leasehold.job j on j.job_id = e.job_id;
end
$$;
