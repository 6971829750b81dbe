-- A flow as a person wants to see it. Counting its steps by state takes a look at each: not for a list.
-- internal
create or replace function leasehold.view_flow(p_flow leasehold.flow, p_counted boolean) returns leasehold.flow_view
language sql stable as $$
  select
    p_flow.flow_id, p_flow.tenant_id, p_flow.name, p_flow.state,
    case p_flow.state
      when 'running' then (select reason from leasehold.stop where flow_id = p_flow.flow_id order by n limit 1)
      else p_flow.reason
    end,
    p_flow.state = 'running' and exists (select from leasehold.stop where flow_id = p_flow.flow_id), p_flow.deadline, p_flow.created_at, p_flow.finished_at,
    case when p_counted then (
      select coalesce(jsonb_object_agg(state, n), '{}')
      from (
        select coalesce(case when o.error ->> 'type' = 'Skipped' then 'skipped' end, o.state, leasehold.state_of(s.job_id)) as state, count(*) as n
        from leasehold.step s left join leasehold.outcome o on o.job_id = s.job_id
        where s.flow_id = p_flow.flow_id group by 1
      ) c
    ) end
$$;
