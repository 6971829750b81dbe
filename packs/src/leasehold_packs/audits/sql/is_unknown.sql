-- Whether a page is one that a run has heard of and knows nothing of. What robots.txt closes is not meant to be known.
-- for: api, worker
create or replace function pack.is_unknown(p_url pack.url) returns boolean
language sql immutable
as $$
  select p_url.state <> 'blocked' and not pack.is_read(p_url) and not pack.is_broken(p_url)
$$;
