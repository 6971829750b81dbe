-- The same thing at all its sites, cheapest first in each currency; amounts of two currencies are not compared.
-- for: api
create or replace function pack.compare_group(p_group uuid)
returns table (
  product_id uuid, site_id uuid, url text, name text, state text, result text, missing_since timestamptz,
  checked_at timestamptz, price numeric, currency char(3), availability text, seen_at timestamptz,
  percent_above_cheapest double precision
)
language sql stable
as $$
  select p.product_id, p.site_id, p.url, p.name, p.state, p.result, p.missing_since,
    p.checked_at, o.price, o.currency, o.availability, o.seen_at,
    case when p.state <> 'gone' and p.missing_since is null then
      round((o.price / min(o.price) filter (where p.state <> 'gone' and p.missing_since is null)
        over (partition by o.currency) - 1) * 100, 2)::float8
    end
  from pack.product p
  left join pack.offer o on o.product_id = p.product_id and o.variant = ''
  where p.group_id = p_group
  order by p.state = 'gone' or p.missing_since is not null, o.currency nulls last, o.price nulls last, p.url
  limit 1000
$$;
