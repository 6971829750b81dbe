-- Keeping house. All of it runs with the rights of the tenant whose job asks: row security keeps others' rows out of reach.

-- One row for each offer, day and currency: what held on that day, also if it came before. Days are those of UTC, up to the
-- last one on which the offer was seen.
create function pack.roll_up(p_from date, p_until date) returns integer
language sql
set search_path = pg_catalog, pg_temp set timezone = 'UTC'
as $$
  with known as (
    select n.offer_id, n.tenant_id, n.at, n.price, n.currency, o.seen_at,
      lead(n.at) over (partition by n.offer_id order by n.at) as until,
      lag(n.price) over (partition by n.offer_id order by n.at) as before
    from pack.observation n join pack.offer o using (offer_id)
    where n.price is not null and n.at >= coalesce((
      select max(e.at) from pack.observation e where e.offer_id = n.offer_id and e.price is not null and e.at < p_from
    ), p_from)
  ),
  held as (
    select k.*, d.day::date as day
    from known k join generate_series(p_from::timestamptz, p_until::timestamptz - interval '1 day', '1 day') d(day)
      on k.at < d.day + interval '1 day' and coalesce(k.until, 'infinity') > d.day and d.day <= k.seen_at
  ),
  written as (
    insert into pack.daily (offer_id, day, currency, tenant_id, low, high, opened, closed, changes)
    select offer_id, day, currency, tenant_id, min(price), max(price), (array_agg(price order by at))[1],
      (array_agg(price order by at desc))[1], count(*) filter (where at >= day and before <> price)
    from held group by offer_id, day, currency, tenant_id
    on conflict (offer_id, day, currency) do update set low = excluded.low, high = excluded.high,
      opened = excluded.opened, closed = excluded.closed, changes = excluded.changes
    returning 1
  )
  select count(*)::integer from written
$$;
grant execute on function pack.roll_up(date, date) to leasehold_worker;

-- The months that these days lie in, from their days.
create function pack.roll_up_months(p_from date, p_until date) returns integer
language sql
set search_path = pg_catalog, pg_temp
as $$
  with written as (
    insert into pack.monthly (offer_id, month, currency, tenant_id, low, high, average, changes, days)
    select offer_id, date_trunc('month', day)::date, currency, tenant_id, min(low), max(high), avg(closed), sum(changes),
      count(*)
    from pack.daily
    where day >= date_trunc('month', p_from)::date and day < p_until
    group by 1, 2, 3, 4
    on conflict (offer_id, month, currency) do update set low = excluded.low, high = excluded.high,
      average = excluded.average, changes = excluded.changes, days = excluded.days
    returning 1
  )
  select count(*)::integer from written
$$;
grant execute on function pack.roll_up_months(date, date) to leasehold_worker;

-- Delete some of what is older than its site keeps it; how many rows. What still holds stays, however old: without it nobody
-- would know since when a price is what it is.
create function pack.forget(p_batch integer) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_gone  integer;
  v_total integer := 0;
begin
  with kept as (
    select o.offer_id, leasehold.now() - make_interval(days => (s.settings ->> 'retention_days')::integer) as cutoff
    from pack.offer o join pack.product p using (product_id) join pack.site s using (site_id)
  ),
  old as (
    select n.offer_id, n.at from pack.observation n left join kept k using (offer_id)
    where k.offer_id is null or n.at < k.cutoff and exists (
      select from pack.observation l where l.offer_id = n.offer_id and l.at > n.at and l.at <= k.cutoff
    )
    limit p_batch
  )
  delete from pack.observation n using old where n.offer_id = old.offer_id and n.at = old.at;
  get diagnostics v_gone = row_count;
  v_total := v_total + v_gone;

  with old as (
    select v.visit_id, v.at from pack.visit v left join pack.site s using (site_id)
    where s.site_id is null or v.at < leasehold.now() - make_interval(days => (s.settings ->> 'retention_days')::integer)
    limit p_batch
  )
  delete from pack.visit v using old where v.visit_id = old.visit_id and v.at = old.at;
  get diagnostics v_gone = row_count;
  v_total := v_total + v_gone;

  with old as (
    select c.change_id from pack.change c join pack.product p using (product_id) join pack.site s using (site_id)
    where c.state <> 'pending' and c.at < leasehold.now() - make_interval(days => (s.settings ->> 'retention_days')::integer)
    limit p_batch
  )
  delete from pack.change c using old where c.change_id = old.change_id;
  get diagnostics v_gone = row_count;
  return v_total + v_gone;
end
$$;
grant execute on function pack.forget(integer) to leasehold_worker;

-- What the checks of the last day say about each site, and what somebody should know; sites whose trouble is new.
create function pack.look_after_sites() returns table (site_id uuid, trouble text)
language sql
set search_path = pg_catalog, pg_temp
as $$
  with seen as (
    select s.site_id, s.state, s.created_at, s.health ->> 'trouble' as before,
      count(v.visit_id) as checks,
      count(*) filter (where v.result in ('first', 'changed', 'unchanged', 'doubtful')) as read,
      count(*) filter (where v.result = 'blocked') as blocked,
      count(*) filter (where v.result = 'no_price') as no_price,
      count(*) filter (where v.result = 'error') as failed,
      count(*) filter (where v.result in ('missing', 'gone', 'moved')) as missing,
      (select max(r.finished_at) from pack.run r where r.site_id = s.site_id) as crawled_at,
      (select count(*) from pack.product p where p.site_id = s.site_id and p.state = 'needs_attention') as attention
    from pack.site s left join pack.visit v on v.site_id = s.site_id and v.at > leasehold.now() - interval '1 day'
    group by s.site_id
  ),
  judged as (
    select *, case
      when state = 'paused' then null
      when checks >= 3 and blocked * 2 > checks then format('blocked: %s of %s checks', blocked, checks)
      when checks >= 3 and no_price * 2 > checks then format('no price in %s of %s checks: its pages may be built anew', no_price, checks)
      when checks >= 3 and failed * 2 > checks then format('does not answer: %s of %s checks', failed, checks)
      when state = 'active' and coalesce(crawled_at, created_at) < leasehold.now() - interval '3 days' then 'no run has ended for three days'
    end as trouble
    from seen
  ),
  written as (
    update pack.site s set health = jsonb_build_object(
      'at', leasehold.now(), 'checks', j.checks, 'read', j.read, 'blocked', j.blocked, 'no_price', j.no_price,
      'failed', j.failed, 'missing', j.missing, 'needs_attention', j.attention, 'crawled_at', j.crawled_at,
      'success', case when j.checks > 0 then round(j.read::numeric / j.checks, 3) end, 'trouble', j.trouble)
    from judged j where j.site_id = s.site_id
  )
  select j.site_id, j.trouble from judged j where j.trouble is not null and split_part(j.trouble, ':', 1) is distinct from split_part(j.before, ':', 1)
$$;
grant execute on function pack.look_after_sites() to leasehold_worker;
