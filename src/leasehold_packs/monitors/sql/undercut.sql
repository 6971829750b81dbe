-- A rule that tells when somebody sells a thing for less: its scope says which products are one's own.

alter table pack.rule drop constraint rule_condition_check;
alter table pack.rule add constraint rule_condition_check
  check (condition in ('percent', 'absolute', 'target', 'back_in_stock', 'new_low', 'undercut'));
alter table pack.rule add constraint rule_undercut_check
  check (condition <> 'undercut' or num_nonnulls(site_id, product_id, tag, brand) > 0);

-- Whether a rule is about a product.
create function pack.covers(p_rule pack.rule, p_product pack.product) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(p_rule.product_id = p_product.product_id, true)
    and coalesce(p_rule.site_id = p_product.site_id, true)
    and coalesce(p_rule.tag = any(p_product.tags), true)
    and coalesce(lower(p_rule.brand) = lower(coalesce(p_product.brand, '')), true)
$$;
grant execute on function pack.covers(pack.rule, pack.product) to leasehold_worker, leasehold_api;

-- The rules that a product fulfils whose price fell from one amount to another: it was as dear as one's own in its group,
-- and is cheaper now. Amounts of two currencies are not compared.
create function pack.undercut(p_product uuid, p_was numeric, p_now numeric, p_currency text)
returns table (rule_id uuid, name text, condition text, undercut jsonb)
language sql stable
set search_path = pg_catalog, pg_temp
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
grant execute on function pack.undercut(uuid, numeric, numeric, text) to leasehold_worker;
