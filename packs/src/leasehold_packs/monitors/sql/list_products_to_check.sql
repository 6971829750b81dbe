-- The products that a run checks, by id, after one of them: a baseline is for those that were never checked.
-- for: worker
create or replace function pack.list_products_to_check(p_site uuid, p_what text, p_after uuid, p_limit integer)
returns setof uuid
language sql stable
as $$
  select p.product_id
  from pack.product p
  where p.site_id = p_site and p.state <> 'paused'
    and (p_what = 'crawl' or p.checked_at is null)
    and (p_after is null or p.product_id > p_after)
  order by p.product_id
  limit p_limit
$$;
