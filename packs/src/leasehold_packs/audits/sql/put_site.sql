-- The site of an address, registered if it is new. Its row stays locked: requests for one site come one after the other.
-- for: api, worker
create or replace function pack.put_site(p_tenant uuid, p_url text, p_url_key text) returns uuid
language sql
as $$
  insert into pack.site (tenant_id, url, url_key) values (p_tenant, p_url, p_url_key)
  on conflict (tenant_id, url_key) do update set url = excluded.url
  returning site_id
$$;
