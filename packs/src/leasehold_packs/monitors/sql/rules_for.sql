-- The rules that are about a product, but for those that compare it with others.
-- for: worker
create or replace function pack.rules_for(p_product uuid)
returns table (rule_id uuid, name text, condition text, value numeric, currency char(3), direction text)
language sql stable
as $$
  select r.rule_id, r.name, r.condition, r.value, r.currency, r.direction
  from pack.rule r
  join pack.product p on p.product_id = p_product
  where not r.paused and r.condition <> 'undercut' and pack.covers(r, p)
  order by r.created_at, r.rule_id
$$;
