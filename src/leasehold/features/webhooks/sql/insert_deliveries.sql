-- One delivery for each of these events and each endpoint that wants it; their ids. A disabled endpoint gets none.
-- internal
create or replace function leasehold.insert_deliveries(p_events uuid[]) returns uuid[]
language sql volatile as $$
  with made as (
    insert into leasehold.delivery (delivery_id, tenant_id, event_id, endpoint_id, state, created_at)
    select leasehold.new_id(leasehold.micros(leasehold.now())), v.tenant_id, v.event_id, e.endpoint_id, 'pending', leasehold.now()
    from leasehold.webhook_event v
    join leasehold.endpoint e on e.tenant_id = v.tenant_id and e.state <> 'disabled' and leasehold.endpoint_wants(e.events, v.type)
    where v.event_id = any(p_events)
    order by v.event_id
    on conflict do nothing
    returning delivery_id
  )
  select coalesce(array_agg(delivery_id), '{}') from made
$$;
