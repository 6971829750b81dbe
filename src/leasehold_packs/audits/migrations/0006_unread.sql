-- A page that could not be read says nothing: what is known of it stays as it was, and so does what depends on it.

-- Whether a page has told what it is: that it is not there counts, too.
create function pack.is_read(p_url pack.url) returns boolean
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(p_url.state = 'fetched' and (p_url.status < 400 or p_url.status in (404, 410)), false)
$$;

-- Whether a page was cut at the limit of bytes: what it lacks may stand in the rest, which was not read.
create function pack.is_cut(p_url pack.url) returns boolean
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce((p_url.answer ->> 'is_cut')::boolean, false)
$$;

-- Whether nobody can reach a page, as far as that is certain: not where its server was in trouble, or kept us out.
create function pack.is_broken(p_url pack.url) returns boolean
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    p_url.status between 400 and 499 and p_url.status not in (401, 402, 403, 407, 408, 421, 425, 429, 451)
      or p_url.problem like '%redirects in a circle', false)
$$;

-- Pages of a run that it could not read although an earlier one of its site did, or that nobody asked for before. One that
-- none of the last runs could read is nothing new: what it would say is missing for good.
create function pack.lost_urls(p_run uuid) returns table (key bytea, is_blocked boolean)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with before as materialized (
    select b.run_id from pack.run r join pack.run b using (site_id)
    where r.run_id = p_run and b.run_id <> p_run and b.state = 'succeeded' and b.settles and b.created_at < r.created_at
    order by b.created_at desc limit 5
  ),
  known as materialized (
    select o.key, bool_or(pack.is_read(o)) as was_read
    from before b join pack.url o on o.run_id = b.run_id
    where o.state not in ('queued', 'left') and o.key in (
      select u.key from pack.url u where u.run_id = p_run and u.state <> 'left' and not pack.is_read(u)
    )
    group by o.key
  )
  select u.key, u.state = 'blocked'
  from pack.url u left join known k on k.key = u.key
  where u.run_id = p_run and u.state <> 'left' and not pack.is_read(u) and coalesce(k.was_read, u.state <> 'blocked')
$$;

-- Why a run has read no page at all; null if it has read one, or if robots.txt let it read none.
create function pack.unreachable(p_run uuid) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case
    when exists (select from pack.url u where u.run_id = p_run and pack.is_read(u)) then null
    else coalesce(
      (
        select 'the site could not be reached: ' || u.url || coalesce(' answered ' || u.status, ': ' || u.problem, '')
        from pack.url u where u.run_id = p_run and u.state in ('failed', 'fetched')
        order by u.depth, u.source <> 'seed', u.url limit 1
      ),
      (select 'no page was read: ' || u.problem from pack.url u where u.run_id = p_run and u.state = 'left' limit 1),
      case when not exists (select from pack.url u where u.run_id = p_run) then 'no page was found to begin with' end
    )
  end
$$;

-- Whether a run has seen all that it was to look at, so that a page of that which it did not meet is not there any more.
create function pack.has_seen_all(p_run uuid) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
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

-- A page that could not be read is asked for again.
create or replace function pack.resume_run(p_run uuid) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_part integer;
begin
  update pack.run
  set state = 'running', reason = null, finished_at = null, part = part + 1, begun_at = leasehold.now(), is_full = false
  where run_id = p_run and state in ('canceled', 'failed')
  returning part into v_part;
  if v_part is null then
    return null;
  end if;
  with again as (
    update pack.url u set state = 'queued', status = null, problem = null
    where u.run_id = p_run and u.state in ('failed', 'fetched') and not pack.is_read(u)
    returning u.key
  )
  delete from pack.issue i using again a where i.run_id = p_run and i.key = a.key;
  perform pack.tell(p_run, 'status_changed', 'running', 'the audit goes on', jsonb_build_object('state', 'running'));
  return v_part;
end
$$;

-- Links to pages that are not there or are elsewhere, pages without links to them, and pages far from the start. The last
-- two are not judged where pages, or the rest of one, are missing whose links would count.
create function pack.note_links(p_run uuid, p_severity jsonb) returns integer
language sql
set search_path = pg_catalog, pg_temp
set enable_nestloop = off
as $$
  with
  whole as materialized (
    select not exists (select from pack.lost_urls(p_run) where not is_blocked)
      and not exists (select from pack.url u where u.run_id = p_run and pack.is_cut(u)) as is_whole
  ),
  page as materialized (
    select * from pack.url u where u.run_id = p_run and pack.is_listed(u)
  ),
  link as materialized (
    select l.from_key, l.to_key, l.fragment, t.url, t.status, t.hops, t.anchors, pack.is_broken(t) as is_broken
    from pack.link l join pack.url t on t.run_id = p_run and t.key = l.to_key
    where l.run_id = p_run
  ),
  found (check_id, key, evidence) as (
    select 'orphan', p.key, '{}'::jsonb from page p, whole w
    where w.is_whole and p.source <> 'seed' and not exists (
      select from pack.link l where l.run_id = p_run and l.to_key = p.key and l.from_key <> p.key
    )
    union all
    select 'deep', key, jsonb_build_object('clicks', depth) from page p, whole w where w.is_whole and depth > 4
    union all
    select 'link_broken', from_key, jsonb_build_object('count', count(*), 'examples', (array_agg(distinct url))[1:10])
    from link where is_broken group by from_key
    union all
    select 'link_to_redirect', from_key,
      jsonb_build_object('count', count(*), 'examples', (array_agg(distinct url))[1:10])
    from link where hops > 0 and status < 400 group by from_key
    union all
    select 'fragment_broken', from_key,
      jsonb_build_object('count', count(*), 'examples', (array_agg(distinct url || '#' || fragment))[1:10])
    from link
    where anchors is not null and fragment <> all(anchors) and fragment not in ('', 'top') and fragment not like ':~:%'
    group by from_key
  ),
  noted as (
    insert into pack.issue (run_id, check_id, key, tenant_id, severity, evidence)
    select p_run, f.check_id, f.key, u.tenant_id, p_severity ->> f.check_id, f.evidence
    from found f join pack.url u on u.run_id = p_run and u.key = f.key
    on conflict do nothing
    returning 1
  )
  select count(*)::integer from noted
$$;

-- Pages that name another one as canonical, as a translation or in a sitemap, and what that one is.
create function pack.note_names(p_run uuid, p_severity jsonb) returns integer
language sql
set search_path = pg_catalog, pg_temp
set enable_nestloop = off
as $$
  with
  target as materialized (
    select *, pack.is_broken(u) as is_broken from pack.url u
    where u.run_id = p_run and (pack.is_read(u) or pack.is_broken(u))
  ),
  canonical as (
    select p.key, t.url, t.hops, t.indexable, t.canonical as next, t.key as target, t.is_broken
    from pack.url p join target t on t.key = p.canonical
    where p.run_id = p_run and p.state = 'fetched' and p.indexable and p.canonical <> p.key
  ),
  alternate as (
    select a.from_key, a.hreflang, t.key as target, t.url, t.hops, t.indexable, t.is_broken
    from pack.alternate a join target t on t.key = a.to_key
    join pack.url p on p.run_id = p_run and p.key = a.from_key
    where a.run_id = p_run and a.to_key <> a.from_key and pack.is_listed(p)
  ),
  found (check_id, key, evidence) as (
    select
      case
        when is_broken then 'canonical_to_error'
        when hops > 0 then 'canonical_to_redirect'
        when not indexable then 'canonical_to_noindex'
        else 'canonical_to_other'
      end, key, jsonb_build_object('canonical', url)
    from canonical
    where is_broken or hops > 0 or not indexable or coalesce(next, target) <> target
    union all
    select 'sitemap_blocked', key, '{}' from pack.url where run_id = p_run and in_sitemap and state = 'blocked'
    union all
    select
      case
        when is_broken then 'sitemap_error'
        when not indexable then 'sitemap_noindex'
        else 'sitemap_not_canonical'
      end, key, '{}'
    from target
    where in_sitemap and (is_broken or not indexable or coalesce(canonical, key) <> key)
    union all
    select
      case
        when a.is_broken then 'hreflang_to_error'
        when a.hops > 0 then 'hreflang_to_redirect'
        when not a.indexable then 'hreflang_to_noindex'
        else 'hreflang_no_return'
      end, a.from_key, jsonb_build_object(
        'count', count(*), 'examples', (array_agg(a.hreflang || ' ' || a.url order by a.hreflang))[1:10]
      )
    from alternate a
    where a.is_broken or a.hops > 0 or not a.indexable or not exists (
      select from pack.alternate b where b.run_id = p_run and b.from_key = a.target and b.to_key = a.from_key
    )
    group by 1, 2
  ),
  noted as (
    insert into pack.issue (run_id, check_id, key, tenant_id, severity, evidence)
    select p_run, f.check_id, f.key, u.tenant_id, p_severity ->> f.check_id, f.evidence
    from found f join pack.url u on u.run_id = p_run and u.key = f.key
    on conflict do nothing
    returning 1
  )
  select count(*)::integer from noted
$$;

-- What only shows when all pages of a run are known, one function for each sort; how many issues.
create or replace function pack.note_relations(p_run uuid, p_severity jsonb) returns integer
language sql
set search_path = pg_catalog, pg_temp
as $$
  select pack.note_duplicates(p_run, p_severity) + pack.note_links(p_run, p_severity) + pack.note_names(p_run, p_severity)
$$;

-- Whether a page is one that a run has heard of and knows nothing of. What robots.txt closes is not meant to be known.
create function pack.is_unknown(p_url pack.url) returns boolean
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select p_url.state <> 'blocked' and not pack.is_read(p_url) and not pack.is_broken(p_url)
$$;

-- Findings that are about more than their page, were not found again, and are not therefore fixed: a page that they were
-- about was not read, or nobody asked.
create function pack.open_questions(p_run uuid) returns table (check_id text, key bytea)
language sql stable
set search_path = pg_catalog, pg_temp
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

-- What became of each finding of the site, now that this run is over. What a page had before and has no more is fixed if the
-- page was read as a whole, and nothing else that it was about is missing. Pages that the run did not meet and that are not there any
-- more (p_gone) have no faults.
drop function pack.update_findings(uuid);
create function pack.update_findings(p_run uuid, p_gone bytea[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_nestloop = off
as $$
declare
  v_run pack.run;
begin
  select * into v_run from pack.run where run_id = p_run;
  perform from pack.site where site_id = v_run.site_id for update;  -- two runs of a site end one after the other
  update pack.finding f set
    last_run = p_run,
    state = case
      when i.key is null then 'fixed'
      when f.state = 'fixed' then 'regressed'
      when f.state = 'accepted' and coalesce(f.accepted_until > leasehold.now(), true) then 'accepted'
      else 'open'
    end,
    severity = coalesce(i.severity, f.severity)
  from pack.finding g
  left join pack.issue i on i.run_id = p_run and i.check_id = g.check_id and i.key = g.key
  left join pack.url u on u.run_id = p_run and u.key = g.key
  left join pack.open_questions(p_run) q on q.check_id = g.check_id and q.key = g.key
  where f.site_id = v_run.site_id and g.site_id = f.site_id and g.check_id = f.check_id and g.key = f.key
    and (i.key is not null or pack.is_read(u) and not pack.is_cut(u) and q.key is null or u.key is null and g.key = any(p_gone));
  insert into pack.finding (site_id, check_id, key, tenant_id, url, severity, state, first_run, last_run)
  select v_run.site_id, i.check_id, i.key, i.tenant_id, u.url, i.severity, 'new', p_run, p_run
  from pack.issue i join pack.url u on u.run_id = p_run and u.key = i.key
  where i.run_id = p_run
  on conflict do nothing;
end
$$;

grant execute on function
  pack.is_read(pack.url), pack.is_cut(pack.url), pack.is_broken(pack.url), pack.is_unknown(pack.url), pack.lost_urls(uuid), pack.unreachable(uuid),
  pack.has_seen_all(uuid), pack.note_links(uuid, jsonb), pack.note_names(uuid, jsonb), pack.open_questions(uuid),
  pack.update_findings(uuid, bytea[])
to leasehold_worker, leasehold_api;
