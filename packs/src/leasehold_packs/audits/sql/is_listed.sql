-- Whether search engines list a page under its own address: what is wrong with how it is found means nothing otherwise.
-- for: worker
create or replace function pack.is_listed(p_url pack.url) returns boolean
language sql immutable
as $$
  select coalesce(p_url.state = 'fetched' and p_url.indexable and coalesce(p_url.canonical, p_url.key) = p_url.key, false)
$$;
