-- What offers were on these days: what held on a day, also if it came before. Days are those of UTC, up to the last one on
-- which an offer was seen. Of one offer, or of all.
create function pack.days_of(p_from date, p_until date, p_offer uuid default null)
returns table (
  offer_id uuid, day date, currency char(3), tenant_id uuid, low numeric, high numeric, opened numeric, closed numeric,
  changes integer
)
language sql stable
set search_path = pg_catalog, pg_temp set timezone = 'UTC'
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
grant execute on function pack.days_of(date, date, uuid) to leasehold_worker, leasehold_api;

create or replace function pack.roll_up(p_from date, p_until date) returns integer
language sql
set search_path = pg_catalog, pg_temp
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

-- The days of an offer: those that were rolled up, and from the last of them on, which may not have been over then, what
-- was observed since.
create function pack.history_by_day(p_offer uuid)
returns table (
  day date, currency char(3), low numeric, high numeric, opened numeric, closed numeric, changes integer
)
language sql stable
set search_path = pg_catalog, pg_temp set timezone = 'UTC'
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
grant execute on function pack.history_by_day(uuid) to leasehold_worker, leasehold_api;

-- Days are never deleted, so months are made of them when somebody asks.
drop function pack.roll_up_months(date, date);
drop table pack.monthly;
