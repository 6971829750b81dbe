-- Products by id, after one of them.
-- for: api, worker
create or replace function pack.list_products(
  p_site uuid, p_state text, p_brand text, p_tag text, p_query text, p_changed_since timestamptz, p_after uuid,
  p_limit integer
)
returns table (
  product_id uuid, site_id uuid, group_id uuid, url text, state text, reason text, tags text[], selector text,
  name text, brand text, image text, sku text, gtin text, mpn text, platform_id text, id_method text,
  checked_at timestamptz, result text, missing_since timestamptz, created_at timestamptz, disagrees boolean,
  price numeric, currency char(3), list_price numeric, availability text, confidence real, method text,
  low numeric, high numeric, since timestamptz, seen_at timestamptz
)
language sql stable
as $$
  select *
  from pack.products_with_offers() p
  where (p_site is null or p.site_id = p_site)
    and (p_state is null or p.state = p_state)
    and (p_brand is null or lower(p.brand) = lower(p_brand))
    and (p_tag is null or p_tag = any(p.tags))
    and (p_query is null or position(lower(p_query) in lower(concat_ws(' ', p.name, p.url, p.sku))) > 0)
    and (p_changed_since is null or p.since >= p_changed_since)
    and (p_after is null or p.product_id > p_after)
  order by p.product_id
  limit p_limit
$$;
