-- Whether nobody can reach a page, as far as that is certain: not where its server was in trouble, or kept us out.
-- for: api, worker
create or replace function pack.is_broken(p_url pack.url) returns boolean
language sql immutable
as $$
  select coalesce(
    p_url.status between 400 and 499 and p_url.status not in (401, 402, 403, 407, 408, 421, 425, 429, 451)
      or p_url.problem like '%redirects in a circle', false)
$$;
