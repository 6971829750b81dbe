-- The days of an offer, the newest first.
-- for: api, worker
create or replace function pack.list_days(p_offer uuid, p_since timestamptz, p_until timestamptz, p_limit integer)
returns table (
  day date, currency char(3), low numeric, high numeric, opened numeric, closed numeric, changes integer
)
language sql stable
as $$
  select d.day, d.currency, d.low, d.high, d.opened, d.closed, d.changes
  from pack.history_by_day(p_offer) d
  where (p_since is null or d.day >= p_since::date)
    and (p_until is null or d.day < p_until::date)
  order by d.day desc, d.currency
  limit p_limit
$$;
