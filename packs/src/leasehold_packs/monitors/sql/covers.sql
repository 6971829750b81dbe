-- Whether a rule is about a product.
-- for: api, worker
create or replace function pack.covers(p_rule pack.rule, p_product pack.product) returns boolean
language sql stable
as $$
  select coalesce(p_rule.product_id = p_product.product_id, true)
    and coalesce(p_rule.site_id = p_product.site_id, true)
    and coalesce(p_rule.tag = any(p_product.tags), true)
    and coalesce(lower(p_rule.brand) = lower(coalesce(p_product.brand, '')), true)
$$;
