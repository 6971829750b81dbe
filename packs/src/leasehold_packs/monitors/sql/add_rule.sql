-- A new rule.
-- for: api
create or replace function pack.add_rule(
  p_tenant uuid, p_name text, p_condition text, p_value numeric, p_currency text, p_direction text, p_site uuid,
  p_product uuid, p_tag text, p_brand text
) returns uuid
language sql
as $$
  insert into pack.rule (
    tenant_id, name, condition, value, currency, direction, site_id, product_id, tag, brand
  )
  values (
    p_tenant, p_name, p_condition, p_value, p_currency, p_direction, p_site, p_product, p_tag, p_brand
  )
  returning rule_id
$$;
