-- Whether a page was cut at the limit of bytes: what it lacks may stand in the rest, which was not read.
-- for: api, worker
create or replace function pack.is_cut(p_url pack.url) returns boolean
language sql immutable
as $$
  select coalesce((p_url.answer ->> 'is_cut')::boolean, false)
$$;
