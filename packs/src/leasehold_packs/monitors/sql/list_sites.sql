-- The sites with the number of their products; one of them, if it is given.
-- for: api, worker
create or replace function pack.list_sites(p_site uuid default null)
returns table (
  site_id uuid, url text, state text, settings jsonb, tested jsonb, health jsonb, created_at timestamptz,
  products bigint
)
language sql stable
as $$
  select s.site_id, s.url, s.state, s.settings, s.tested, s.health, s.created_at,
    (select count(*) from pack.product p where p.site_id = s.site_id)
  from pack.site s
  where p_site is null or s.site_id = p_site
  order by s.url
  limit 1000
$$;
