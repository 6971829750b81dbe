-- Register a site, or give the one that is there new settings.
-- for: api
create or replace function pack.put_site(p_tenant uuid, p_url text, p_key bytea, p_settings jsonb)
returns table (site_id uuid, created boolean)
language sql
as $$
  insert into pack.site (tenant_id, url, key, settings) values (p_tenant, p_url, p_key, p_settings)
  on conflict (tenant_id, key) do update set settings = excluded.settings
  returning site_id, (xmax = 0)
$$;
