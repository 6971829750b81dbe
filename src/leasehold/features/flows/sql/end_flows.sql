-- Nothing of these flows is left to do: they have ended, as the first reason to stop says, else as succeeded.
-- internal
-- settings: index
create or replace function leasehold.end_flows(p_flows uuid[]) returns void
language plpgsql as $$
begin
  if p_flows = '{}' then
    return;
  end if;
  with ended as (
    update leasehold.flow f
    set state = coalesce(s.state, 'succeeded'), reason = s.reason, finished_at = leasehold.now()
    from unnest(p_flows) e(flow_id) left join lateral (
      select state, reason from leasehold.stop where flow_id = e.flow_id order by n limit 1
    ) s on true
    where f.flow_id = e.flow_id
    returning f.flow_id, f.tenant_id, f.state, f.reason, f.finished_at
  )
  insert into leasehold.news (flow_id, tenant_id, type, message, at)
  select flow_id, tenant_id, state, reason, finished_at from ended;
  delete from leasehold.stop where flow_id = any(p_flows);
end
$$;
