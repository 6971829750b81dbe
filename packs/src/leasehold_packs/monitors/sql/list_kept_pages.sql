-- The products of a site whose newest page was kept, by id, after one of them.
-- for: worker
create or replace function pack.list_kept_pages(p_site uuid, p_after uuid, p_limit integer)
returns table (
  product_id uuid, url text, name text, body text, feed text, media_type text, selector text, facts_digest text,
  facts jsonb, extractor integer
)
language sql stable
as $$
  select p.product_id, p.url, p.name, p.body, p.feed, p.media_type, p.selector, p.facts_digest,
    p.facts, p.extractor
  from pack.product p
  where p.site_id = p_site and p.body is not null and (p_after is null or p.product_id > p_after)
  order by p.product_id
  limit p_limit
$$;
