-- The months of an offer, the newest first.
-- for: api, worker
create or replace function pack.list_months(p_offer uuid, p_since timestamptz, p_until timestamptz, p_limit integer)
returns table (
  month date, currency char(3), low numeric, high numeric, average numeric, changes integer, days integer
)
language sql stable
as $$
  select date_trunc('month', d.day)::date, d.currency, min(d.low), max(d.high),
    avg(d.closed)::numeric(20, 6), sum(d.changes)::integer, count(*)::integer
  from pack.history_by_day(p_offer) d
  group by 1, 2
  having (p_since is null or date_trunc('month', min(d.day))::date >= p_since::date)
    and (p_until is null or date_trunc('month', min(d.day))::date < p_until::date)
  order by 1 desc, 2
  limit p_limit
$$;
