-- The days of an offer: those that were rolled up, and from the last of them on, which may not have been over then, what
-- was observed since.
-- for: api, worker
create or replace function pack.history_by_day(p_offer uuid)
returns table (
  day date, currency char(3), low numeric, high numeric, opened numeric, closed numeric, changes integer
)
language sql stable
set timezone = 'UTC'
as $$
  with newest as materialized (
    select coalesce(
      (select max(d.day) from pack.daily d where d.offer_id = p_offer),
      (select min(n.at)::date from pack.observation n where n.offer_id = p_offer)
    ) as day
  )
  select d.day, d.currency, d.low, d.high, d.opened, d.closed, d.changes
  from pack.daily d, newest where d.offer_id = p_offer and d.day < newest.day
  union all
  select d.day, d.currency, d.low, d.high, d.opened, d.closed, d.changes
  from newest, pack.days_of(newest.day, leasehold.now()::date + 1, p_offer) d
$$;
