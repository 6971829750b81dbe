-- Watch a product; one that was paused is watched again. New tags replace those that it had.
-- for: api, worker
create or replace function pack.add_product(
  p_tenant uuid, p_site uuid, p_url text, p_key bytea, p_tags text[], p_selector text
) returns uuid
language sql
as $$
  insert into pack.product as p (tenant_id, site_id, url, key, tags, selector)
  values (p_tenant, p_site, p_url, p_key, p_tags, p_selector)
  on conflict (site_id, key) do update set
    tags = excluded.tags,
    state = case when p.state = 'paused' then 'active' else p.state end
  returning product_id
$$;
