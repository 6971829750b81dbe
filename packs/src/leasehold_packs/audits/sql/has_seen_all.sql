-- Whether a run has seen all that it was to look at, so that a page of that which it did not meet is not there any more.
-- for: api, worker
create or replace function pack.has_seen_all(p_run uuid) returns boolean
language sql stable
as $$
  select not exists (select from pack.url u where u.run_id = p_run and u.state in ('queued', 'left'))
    and not exists (select from pack.lost_urls(p_run))
    and not exists (select from pack.url u where u.run_id = p_run and pack.is_cut(u))
    and exists (
      select from pack.run r
      where r.run_id = p_run and not r.told ? 'unread_sitemaps' and (r.options ->> 'sitemaps')::boolean
        and r.options -> 'only' = '[]' and r.options ->> 'sitemap' is null
    )
$$;
