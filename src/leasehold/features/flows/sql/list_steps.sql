-- The steps of a flow of the current tenant in the order they were written; p_after is the last job of the page before.
-- for: api, worker, readonly
create or replace function leasehold.list_steps(p_flow uuid, p_after uuid default null, p_limit integer default 1000)
returns table (
  job_id uuid, name text, kind text, what text, state text, reason text, after uuid[],
  finished_at timestamptz
)
language plpgsql stable as $$
#variable_conflict use_column
declare
  v_flow  uuid := (leasehold.require_flow(p_flow)).flow_id;
  v_place integer := (select place from leasehold.step where job_id = p_after and flow_id = v_flow);
begin
  return query
    select s.job_id, s.name, j.kind, s.what,
      coalesce(case when o.error ->> 'type' = 'Skipped' then 'skipped' end, leasehold.state_of(s.job_id)),
      coalesce(o.error, a.error) ->> 'message',
      array(select e.parent from leasehold.edge e where e.flow_id = v_flow and e.child = s.job_id order by e.parent), o.finished_at
    from (
      select * from leasehold.step s
      where s.flow_id = v_flow
        and (s.place, s.job_id) > (coalesce(v_place, -1), coalesce(p_after, '00000000-0000-0000-0000-000000000000'))
      order by s.place, s.job_id limit least(greatest(p_limit, 1), 1000)
    ) s
    -- A limit of one keeps the planner from reading all jobs to join them.
    cross join lateral (select t.kind from leasehold.job t where t.job_id = s.job_id limit 1) j
    left join lateral (
      select t.state, t.error, t.finished_at from leasehold.outcome t where t.job_id = s.job_id limit 1
    ) o on true
    left join lateral (
      select t.error from leasehold.attempt t where t.job_id = s.job_id and o.state <> 'succeeded' order by t.finished_seq desc limit 1
    ) a on true
    order by s.place, s.job_id;
end
$$;
