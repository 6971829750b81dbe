-- Whether deliveries wait to be sent.
-- internal
-- settings: inherited
create or replace function leasehold.due_for_webhooks(p_now timestamptz)
returns table (due text, next_at timestamptz)
language sql stable as $$
  select
    case when exists (
      select from leasehold.endpoint e
      where e.state = 'enabled' and exists (
        select from leasehold.delivery d
        where d.endpoint_id = e.endpoint_id and d.job_id is null and d.state = 'pending'
      )
    ) then 'collect job events' end,
    null::timestamptz
$$;
