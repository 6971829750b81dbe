-- Put a product beside those of other sites that are the same thing: by GTIN, written with fourteen digits, else by the maker's
-- own number together with the brand.
-- for: api, worker
create or replace function pack.join_group(p_product uuid) returns uuid
language sql
as $$
  with known as (
    select product_id, tenant_id, name, case
      when gtin is not null then 'gtin:' || lpad(gtin, 14, '0')
      when mpn is not null and brand is not null then
        'mpn:' || lower(regexp_replace(brand, '\s', '', 'g')) || ':' || lower(regexp_replace(mpn, '[\s-]', '', 'g'))
    end as match
    from pack.product where product_id = p_product and group_id is null
  ),
  joined as (
    insert into pack.product_group as g (tenant_id, match, name)
    select tenant_id, match, name from known where match is not null
    on conflict (tenant_id, match) do update set name = coalesce(g.name, excluded.name)
    returning group_id
  )
  update pack.product p set group_id = j.group_id from joined j where p.product_id = p_product returning j.group_id
$$;
