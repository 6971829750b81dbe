-- Tag or pause a product, or say where its price stands; null leaves a thing as it is. With another selector, or none
-- (p_forget_selector), the next check reads the page again. Whether there is such a product.
-- for: api
create or replace function pack.change_product(
  p_product uuid, p_tags text[], p_paused boolean, p_selector text, p_forget_selector boolean
) returns boolean
language sql
as $$
  update pack.product p set
    tags = coalesce(p_tags, p.tags),
    state = case
      when p_paused then 'paused'
      when not p_paused and p.state = 'paused' then 'active'
      else p.state
    end,
    selector = case when p_forget_selector then null else coalesce(p_selector, p.selector) end,
    extractor = case when p_forget_selector or p_selector is not null then null else p.extractor end
  where p.product_id = p_product
  returning true
$$;
