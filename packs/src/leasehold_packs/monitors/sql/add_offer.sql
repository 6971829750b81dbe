-- An offer that was seen for the first time.
-- for: worker
create or replace function pack.add_offer(
  p_tenant uuid, p_product uuid, p_variant text, p_price numeric, p_currency text, p_list_price numeric,
  p_availability text, p_method text, p_stock_method text, p_confidence double precision, p_body text,
  p_now timestamptz
) returns uuid
language sql
as $$
  insert into pack.offer (
    tenant_id, product_id, variant, price, currency, list_price, availability, method, stock_method, confidence,
    body, told_price, low, high, since, seen_at
  )
  values (
    p_tenant, p_product, p_variant, p_price, p_currency, p_list_price, p_availability, p_method, p_stock_method,
    p_confidence, p_body, p_price, p_price, p_price, p_now, p_now
  )
  returning offer_id
$$;
