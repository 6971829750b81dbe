-- What offers were on these days: what held on a day, also if it came before. Days are those of UTC, up to the last one on
-- which an offer was seen. Of one offer, or of all.
-- for: api, worker
create or replace function pack.days_of(p_from date, p_until date, p_offer uuid default null)
returns table (
  offer_id uuid, day date, currency char(3), tenant_id uuid, low numeric, high numeric, opened numeric, closed numeric,
  changes integer
)
language sql stable
set timezone = 'UTC'
as $$
  with known as (
    select n.offer_id, n.tenant_id, n.at, n.price, n.currency, o.seen_at,
      lead(n.at) over (partition by n.offer_id order by n.at) as until,
      lag(n.price) over (partition by n.offer_id order by n.at) as before
    from pack.observation n join pack.offer o using (offer_id)
    where (p_offer is null or n.offer_id = p_offer) and n.price is not null and n.at >= coalesce((
      select max(e.at) from pack.observation e where e.offer_id = n.offer_id and e.price is not null and e.at < p_from
    ), p_from)
  )
  select k.offer_id, d.day::date, k.currency, k.tenant_id, min(k.price), max(k.price),
    (array_agg(k.price order by k.at))[1], (array_agg(k.price order by k.at desc))[1],
    (count(*) filter (where k.at >= d.day and k.before <> k.price))::integer
  from known k join generate_series(p_from::timestamptz, p_until::timestamptz - interval '1 day', '1 day') d(day)
    on k.at < d.day + interval '1 day' and coalesce(k.until, 'infinity') > d.day and d.day <= k.seen_at
  group by k.offer_id, d.day, k.currency, k.tenant_id
$$;
