-- A product as its check needs it; is_waiting: for a second look at a change.
-- for: worker
create or replace function pack.load_product(p_product uuid, p_run uuid)
returns table (
  site_id uuid, url text, state text, selector text, gtin text, mpn text, sku text, name text, body text,
  extractor integer, media_type text, missing_since timestamptz, feed text, settings jsonb, site_state text,
  now timestamptz, rules_since timestamptz, is_waiting boolean
)
language sql stable
as $$
  select p.site_id, p.url, p.state, p.selector, p.gtin, p.mpn, p.sku, p.name, p.body,
    p.extractor, p.media_type, p.missing_since, p.feed, s.settings, s.state,
    leasehold.now(),
    coalesce(
      (select r.started_at from pack.run r where r.run_id = p_run), leasehold.now() - interval '10 minutes'
    ),
    exists (select from pack.change c where c.product_id = p.product_id and c.state = 'pending')
  from pack.product p
  join pack.site s using (site_id)
  where p.product_id = p_product
$$;
