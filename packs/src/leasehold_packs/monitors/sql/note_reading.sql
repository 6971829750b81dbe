-- What a page that could be read says of its product (p_reading); what it does not say stays as it was.
-- for: worker
create or replace function pack.note_reading(p_product uuid, p_now timestamptz, p_reading jsonb) returns void
language sql
as $$
  update pack.product p set
    state = 'active',
    reason = null,
    result = 'read',
    checked_at = p_now,
    without_price = 0,
    missing_since = null,
    facts = p_reading -> 'facts',
    facts_digest = r.facts_digest,
    extractor = r.extractor,
    body = r.body,
    media_type = r.media_type,
    feed = r.feed,
    simhash = r.simhash,
    name = coalesce(r.name, p.name),
    brand = coalesce(r.brand, p.brand),
    image = coalesce(r.image, p.image),
    sku = coalesce(r.sku, p.sku),
    gtin = coalesce(r.gtin, p.gtin),
    mpn = coalesce(r.mpn, p.mpn),
    platform_id = coalesce(r.platform_id, p.platform_id),
    id_method = coalesce(r.id_method, p.id_method)
  from jsonb_populate_record(null::pack.product, p_reading) r
  where p.product_id = p_product
$$;
