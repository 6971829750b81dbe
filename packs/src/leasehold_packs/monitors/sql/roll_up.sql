-- Write the history by day of what was seen on these days; how many rows.
-- for: worker
create or replace function pack.roll_up(p_from date, p_until date) returns integer
language sql
as $$
  with written as (
    insert into pack.daily (offer_id, day, currency, tenant_id, low, high, opened, closed, changes)
    select d.offer_id, d.day, d.currency, d.tenant_id, d.low, d.high, d.opened, d.closed, d.changes
    from pack.days_of(p_from, p_until) d
    on conflict (offer_id, day, currency) do update set low = excluded.low, high = excluded.high,
      opened = excluded.opened, closed = excluded.closed, changes = excluded.changes
    returning 1
  )
  select count(*)::integer from written
$$;
