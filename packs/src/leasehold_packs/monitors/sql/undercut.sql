-- The rules that a product fulfils whose price fell from one amount to another: it was as dear as one's own in its group,
-- and is cheaper now. Amounts of two currencies are not compared.
-- for: worker
create or replace function pack.undercut(p_product uuid, p_was numeric, p_now numeric, p_currency text)
returns table (rule_id uuid, name text, condition text, undercut jsonb)
language sql stable
as $$
  select r.rule_id, r.name, r.condition, jsonb_agg(jsonb_build_object(
    'product_id', own.product_id, 'url', own.url, 'name', own.name, 'price', o.price::text, 'currency', o.currency
  ) order by own.product_id)
  from pack.product p
  join pack.product own on own.group_id = p.group_id and own.product_id <> p.product_id and own.state = 'active'
  join pack.offer o on o.product_id = own.product_id and o.variant = '' and o.currency = p_currency
  join pack.rule r on r.condition = 'undercut' and not r.paused and pack.covers(r, own) and not pack.covers(r, p)
  where p.product_id = p_product and o.price > p_now and o.price <= p_was
  group by r.rule_id, r.name, r.condition, r.created_at
  order by r.created_at, r.rule_id
$$;
