-- How the parents of a running step ended, and with what result: under its token, so for its own handler only.
-- for: worker
-- settings: index
create or replace function leasehold.list_parents(p_token bigint)
returns table (job_id uuid, name text, kind text, state text, result jsonb, error jsonb)
language plpgsql stable as $$
#variable_conflict use_column
declare
  v_job  uuid;
  v_flow uuid;
begin
  select job_id into v_job from leasehold.lease where token = p_token;
  if not found then
    raise exception 'the lease with token % is gone', p_token using errcode = 'LH410';
  end if;
  select flow_id into v_flow from leasehold.step where job_id = v_job;
  return query
    select s.job_id, s.name, j.kind, coalesce(case when o.error ->> 'type' = 'Skipped' then 'skipped' end, o.state),
      coalesce(o.result, leasehold.get_json(o.tenant_id, o.result_ref)), coalesce(o.error, a.error)
    from (  -- a join has nothing to tell: what it waited for has
      with recursive up as (
        select e.parent from leasehold.edge e where e.flow_id = v_flow and e.child = v_job
        union
        select e.parent from up join leasehold.step s on s.job_id = up.parent and s.what = 'join'
        join leasehold.edge e on e.flow_id = v_flow and e.child = up.parent
      )
      select up.parent from up
    ) e
    join leasehold.step s on s.job_id = e.parent and s.what <> 'join'
    join leasehold.job j on j.job_id = e.parent
    join leasehold.outcome o on o.job_id = e.parent
    left join lateral (
      select t.error from leasehold.attempt t where t.job_id = e.parent and o.state <> 'succeeded' order by t.finished_seq desc limit 1
    ) a on true
    order by e.parent;
end
$$;
