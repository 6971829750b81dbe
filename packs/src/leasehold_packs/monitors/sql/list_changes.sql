-- The newest changes first; before the moment and the id of one of them.
-- for: api, worker
create or replace function pack.list_changes(
  p_state text, p_kind text, p_site uuid, p_product uuid, p_since timestamptz, p_told boolean,
  p_before_at timestamptz, p_before uuid, p_limit integer
)
returns table (
  change_id uuid, product_id uuid, site_id uuid, url text, name text, variant text, kind text, before jsonb,
  after jsonb, percent double precision, state text, doubt text, told boolean, body_before text, body_after text,
  at timestamptz, decided_at timestamptz
)
language sql stable
as $$
  select c.change_id, c.product_id, p.site_id, p.url, p.name, c.variant, c.kind, c.before,
    c.after, c.percent::float8, c.state, c.doubt, c.told, c.body_before, c.body_after,
    c.at, c.decided_at
  from pack.change c
  join pack.product p using (product_id)
  where (p_state is null or c.state = p_state)
    and (p_kind is null or c.kind = p_kind)
    and (p_site is null or p.site_id = p_site)
    and (p_product is null or c.product_id = p_product)
    and (p_since is null or c.at >= p_since)
    and (p_told is null or c.told = p_told)
    and (p_before_at is null or (c.at, c.change_id) < (p_before_at, p_before))
  order by c.at desc, c.change_id desc
  limit p_limit
$$;
