-- An offer as a check has found it. p_is_other: something differs; p_is_told: the change of the price was reported. A
-- method that is null stays.
-- for: worker
create or replace function pack.change_offer(
  p_offer uuid, p_price numeric, p_currency text, p_availability text, p_list_price numeric, p_method text,
  p_stock_method text, p_confidence double precision, p_is_other boolean, p_body text, p_now timestamptz,
  p_is_told boolean
) returns void
language sql
as $$
  update pack.offer o set
    price = p_price,
    currency = p_currency,
    availability = p_availability,
    list_price = p_list_price,
    method = coalesce(p_method, o.method),
    stock_method = coalesce(p_stock_method, o.stock_method),
    confidence = p_confidence,
    body = case when p_is_other then p_body else o.body end,
    since = case when p_is_other then p_now else o.since end,
    seen_at = p_now,
    told_price = case when p_is_told or o.currency is distinct from p_currency then p_price else o.told_price end,
    low = case when o.currency = p_currency then least(o.low, p_price) else p_price end,
    high = case when o.currency = p_currency then greatest(o.high, p_price) else p_price end
  where o.offer_id = p_offer
$$;
