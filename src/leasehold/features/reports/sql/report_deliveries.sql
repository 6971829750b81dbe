-- For reports: deliveries to the current tenant's endpoints that were made in this time, oldest first. Filter: state.
-- for: worker
-- settings: custom plan
create or replace function leasehold.report_deliveries(
  p_from timestamptz, p_to timestamptz, p_filter jsonb, p_after uuid default null, p_limit integer default 1000
) returns setof leasehold.report_line
language sql stable as $$
  select d.delivery_id, jsonb_build_object(
    'delivery_id', d.delivery_id, 'endpoint_id', d.endpoint_id, 'type', v.type, 'subject_id', v.subject_id, 'state', d.state,
    'attempts', coalesce(a.n, 0), 'status', a.status, 'created_at', d.created_at, 'ended_at', d.ended_at, 'reason', left(d.reason, 500)
  )
  from leasehold.delivery d
  join leasehold.webhook_event v on v.event_id = d.event_id
  left join lateral (
    select n, status from leasehold.delivery_attempt where delivery_id = d.delivery_id order by n desc limit 1
  ) a on true
  where d.tenant_id = leasehold.current_tenant()
    and d.delivery_id >= leasehold.first_id_of_day(p_from) and d.delivery_id < leasehold.first_id_of_day(p_to)
    and d.delivery_id > coalesce(p_after, '00000000-0000-0000-0000-000000000000')
    and d.state = coalesce(p_filter ->> 'state', d.state)
  order by d.delivery_id limit p_limit
$$;
