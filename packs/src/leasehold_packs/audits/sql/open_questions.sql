-- Findings that are about more than their page, were not found again, and are not therefore fixed: a page that they were
-- about was not read, or nobody asked.
-- for: api, worker
create or replace function pack.open_questions(p_run uuid) returns table (check_id text, key bytea)
language sql stable
set enable_nestloop = on
as $$
  with
  run as materialized (
    select r.*, pack.has_seen_all(p_run) as has_seen_all,
      r.options -> 'only' <> '[]' or r.options ->> 'sitemap' is not null as is_listed,
      exists (select from pack.lost_urls(p_run) where not is_blocked)
        or exists (select from pack.url u where u.run_id = p_run and pack.is_cut(u)) as lacks_some
    from pack.run r where r.run_id = p_run
  ),
  known as materialized (
    select f.check_id, f.key, f.last_run, u.canonical, u.title, u.description, u.content, r as run,
      r.has_seen_all and (r.options -> 'include', r.options -> 'exclude', r.options -> 'subdomains')
        = (l.options -> 'include', l.options -> 'exclude', l.options -> 'subdomains') as sees_all
    from run r join pack.finding f on f.site_id = r.site_id
    join pack.url u on u.run_id = p_run and u.key = f.key
    join pack.run l on l.run_id = f.last_run
    where f.state <> 'fixed' and pack.is_read(u) and not pack.is_cut(u)
      and not exists (select from pack.issue i where i.run_id = p_run and i.check_id = f.check_id and i.key = f.key)
  )
  select k.check_id, k.key from known k
  where k.check_id in ('link_broken', 'link_to_redirect', 'fragment_broken') and exists (
    select from pack.link l
    join pack.url t on t.run_id = p_run and t.key = l.to_key
    join pack.url o on o.run_id = k.last_run and o.key = l.to_key
    where l.run_id = p_run and l.from_key = k.key and pack.is_unknown(t)
      and (pack.is_broken(o) or o.hops > 0 or k.check_id = 'fragment_broken')
  )
  union all
  select k.check_id, k.key from known k join pack.url me on me.run_id = k.last_run and me.key = k.key
  where case k.check_id
    when 'title_duplicate' then k.title = me.title
    when 'description_duplicate' then k.description = me.description
    when 'exact_duplicate' then k.content = me.content
  end and exists (
    select from pack.url o left join pack.url n on n.run_id = p_run and n.key = o.key
    where o.run_id = k.last_run and o.key <> k.key
      and case k.check_id
        when 'title_duplicate' then o.title = me.title
        when 'description_duplicate' then o.description = me.description
        else o.content = me.content
      end
      and (n.key is null and not k.sees_all or pack.is_unknown(n))
  )
  union all
  select k.check_id, k.key from known k
  join pack.issue i on i.run_id = k.last_run and i.check_id = k.check_id and i.key = k.key
  join pack.url o on o.run_id = k.last_run and o.url = i.evidence ->> 'like'
  left join pack.url n on n.run_id = p_run and n.key = o.key
  where k.check_id = 'near_duplicate' and (n.key is null and not k.sees_all or pack.is_unknown(n))
  union all
  select k.check_id, k.key from known k join pack.url t on t.run_id = p_run and t.key = k.canonical
  where k.check_id like 'canonical_to_%' and pack.is_unknown(t)
  union all
  select k.check_id, k.key from known k
  where k.check_id in ('hreflang_to_error', 'hreflang_to_redirect', 'hreflang_to_noindex', 'hreflang_no_return',
    'hreflang_mismatch') and exists (
    select from pack.alternate a join pack.url t on t.run_id = p_run and t.key = a.to_key
    where a.run_id = p_run and a.from_key = k.key and pack.is_unknown(t)
  )
  union all
  select k.check_id, k.key from known k
  where k.check_id like 'sitemap_%' and (
    (k.run).is_listed or not ((k.run).options ->> 'sitemaps')::boolean or (k.run).told ? 'unread_sitemaps'
  )
  union all
  select k.check_id, k.key from known k
  where k.check_id = 'orphan' and not exists (
    select from pack.link l where l.run_id = p_run and l.to_key = k.key and l.from_key <> k.key
  )
  union all
  select k.check_id, k.key from known k
  where k.check_id = 'deep' and ((k.run).is_listed or (k.run).lacks_some)
  union all
  select k.check_id, k.key from known k
  where k.check_id = 'link_broken_outside' and (
    ((k.run).options ->> 'max_external')::integer = 0 or exists (
      select from pack.outside_link l left join pack.outside o on o.tenant_id = l.tenant_id and o.key = l.to_key
      where l.run_id = p_run and l.from_key = k.key and o.checked_at is null
    )
  )
  union all
  select k.check_id, k.key from known k
  where k.check_id = 'image_large' and (
    ((k.run).options ->> 'max_images')::integer = 0 or exists (
      select from pack.image i left join pack.outside o on o.tenant_id = i.tenant_id and o.key = i.to_key
      where i.run_id = p_run and i.from_key = k.key and o.checked_at is null
    )
  )
  union all
  select k.check_id, k.key from known k
  where k.check_id = 'favicon_missing' and not (k.run).told ? 'favicon'
    or k.check_id = 'https_not_enforced' and not (k.run).told ? 'asked_insecure'
$$;
