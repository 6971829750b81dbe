-- The products with the offer that their page shows.
-- for: api, worker
-- settings: none
create or replace function pack.products_with_offers()
returns table (
  product_id uuid, site_id uuid, group_id uuid, url text, state text, reason text, tags text[], selector text,
  name text, brand text, image text, sku text, gtin text, mpn text, platform_id text, id_method text,
  checked_at timestamptz, result text, missing_since timestamptz, created_at timestamptz, disagrees boolean,
  price numeric, currency char(3), list_price numeric, availability text, confidence real, method text,
  low numeric, high numeric, since timestamptz, seen_at timestamptz
)
language sql stable
as $$
  select p.product_id, p.site_id, p.group_id, p.url, p.state, p.reason, p.tags, p.selector,
    p.name, p.brand, p.image, p.sku, p.gtin, p.mpn, p.platform_id, p.id_method,
    p.checked_at, p.result, p.missing_since, p.created_at,
    coalesce(p.facts -> 'disagreements', '[]') @? '$[*] ? (@.name == "price" || @.name == "availability")',
    o.price, o.currency, o.list_price, o.availability, o.confidence, o.method,
    o.low, o.high, o.since, o.seen_at
  from pack.product p
  left join pack.offer o on o.product_id = p.product_id and o.variant = ''
$$;
