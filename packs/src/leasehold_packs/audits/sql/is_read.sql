-- Whether a page has told what it is: that it is not there counts, too.
-- for: api, worker
create or replace function pack.is_read(p_url pack.url) returns boolean
language sql immutable
as $$
  select coalesce(p_url.state = 'fetched' and (p_url.status < 400 or p_url.status in (404, 410)), false)
$$;
