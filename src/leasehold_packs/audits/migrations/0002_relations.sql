-- What only shows when all pages of a run are known. Each function is one statement over the rows of the run; severities come
-- from the recipe, so that they stand in one place.

-- Clicks from the start, by the shortest way. A crawl of many workers finds pages by any way.
create function pack.measure_depth(p_run uuid) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_depth integer := 0;
  v_from  bytea[];
begin
  update pack.url set depth = null where run_id = p_run;
  update pack.url set depth = 0 where run_id = p_run and source = 'seed';
  loop
    v_from := array(select coalesce(final_key, key) from pack.url where run_id = p_run and depth = v_depth);
    exit when v_from = '{}';
    v_depth := v_depth + 1;
    update pack.url u set depth = v_depth
    where u.run_id = p_run and u.depth is null and u.key in (
      select l.to_key from pack.link l where l.run_id = p_run and l.from_key = any(v_from)
      union all select k from unnest(v_from) k
    );
  end loop;
end
$$;

-- Issues that pages have with each other; how many.
create function pack.note_relations(p_run uuid, p_severity jsonb) returns integer
language sql
set search_path = pg_catalog, pg_temp
as $$
  with
  page as materialized (
    select * from pack.url where run_id = p_run and state = 'fetched' and indexable is not null
  ),
  shared as (
    select 'title_duplicate' as check_id, key, url, encode(sha256(title::bytea), 'hex') as what, left(title, 200) as shown
    from page where indexable and title <> ''
    union all
    select 'description_duplicate', key, url, encode(sha256(description::bytea), 'hex'), left(description, 200)
    from page where indexable and description <> ''
    union all
    select 'exact_duplicate', key, url, encode(content, 'hex'), null from page where indexable and words >= 50 and coalesce(canonical, key) = key
  ),
  same as (
    select check_id, what, max(shown) as shown, count(*) as n, (array_agg(url order by url))[1:10] as urls
    from shared group by check_id, what having count(*) > 1
  ),
  near as (
    select a.key, min(b.url) as url, count(*) as n
    from (select *, generate_series(0, 3) as band from page where indexable and words >= 200 and simhash is not null) a
    join (select *, generate_series(0, 3) as band from page where indexable and words >= 200 and simhash is not null) b
      on b.band = a.band and b.simhash >> (16 * b.band) & 65535 = a.simhash >> (16 * a.band) & 65535
    where a.key <> b.key and a.content <> b.content and bit_count((a.simhash # b.simhash)::bit(64)) <= 3
    group by a.key
  ),
  link as materialized (
    select l.from_key, l.to_key, l.fragment, t.url, t.state, t.status, t.hops, t.anchors
    from pack.link l join pack.url t on t.run_id = p_run and t.key = l.to_key
    where l.run_id = p_run
  ),
  canonical as (
    select p.key, t.url, t.status, t.hops, t.indexable, t.canonical as next, t.key as target, t.state
    from page p join pack.url t on t.run_id = p_run and t.key = p.canonical
    where p.canonical <> p.key
  ),
  alternate as (
    select a.from_key, a.hreflang, t.key as target, t.url, t.status, t.hops, t.indexable, t.state
    from pack.alternate a join pack.url t on t.run_id = p_run and t.key = a.to_key
    where a.run_id = p_run and a.to_key <> a.from_key
  ),
  found (check_id, key, evidence) as (
    select s.check_id, s.key, jsonb_strip_nulls(jsonb_build_object('text', same.shown, 'pages', same.n, 'examples', same.urls))
    from shared s join same on same.check_id = s.check_id and same.what = s.what
    union all
    select 'near_duplicate', key, jsonb_build_object('pages', n, 'like', url) from near
    union all
    select 'orphan', p.key, '{}' from page p
    where p.source <> 'seed' and not exists (
      select from pack.link l where l.run_id = p_run and l.to_key = p.key and l.from_key <> p.key
    )
    union all
    select 'deep', key, jsonb_build_object('clicks', depth) from page where depth > 4
    union all
    select 'link_broken', from_key, jsonb_build_object('count', count(*), 'examples', (array_agg(distinct url))[1:10])
    from link where state = 'failed' or status >= 400 group by from_key
    union all
    select 'link_to_redirect', from_key, jsonb_build_object('count', count(*), 'examples', (array_agg(distinct url))[1:10])
    from link where hops > 0 and status < 400 group by from_key
    union all
    select 'fragment_broken', from_key,
      jsonb_build_object('count', count(*), 'examples', (array_agg(distinct url || '#' || fragment))[1:10])
    from link
    where anchors is not null and fragment <> all(anchors) and fragment not in ('', 'top') and fragment not like ':~:%'
    group by from_key
    union all
    select
      case
        when state = 'failed' or status >= 400 then 'canonical_to_error'
        when hops > 0 then 'canonical_to_redirect'
        when not indexable then 'canonical_to_noindex'
        else 'canonical_to_other'
      end, key, jsonb_build_object('canonical', url)
    from canonical
    where state = 'failed' or status >= 400 or hops > 0 or not indexable or coalesce(next, target) <> target
    union all
    select
      case
        when state = 'failed' or status >= 400 then 'sitemap_error'
        when state = 'blocked' then 'sitemap_blocked'
        when not indexable then 'sitemap_noindex'
        else 'sitemap_not_canonical'
      end, key, '{}'
    from pack.url
    where run_id = p_run and in_sitemap
      and (state in ('failed', 'blocked') or status >= 400 or not indexable or coalesce(canonical, key) <> key)
    union all
    select
      case
        when a.state = 'failed' or a.status >= 400 then 'hreflang_to_error'
        when a.hops > 0 then 'hreflang_to_redirect'
        when not a.indexable then 'hreflang_to_noindex'
        else 'hreflang_no_return'
      end, a.from_key,
      jsonb_build_object('count', count(*), 'examples', (array_agg(a.hreflang || ' ' || a.url order by a.hreflang))[1:10])
    from alternate a
    where a.state = 'failed' or a.status >= 400 or a.hops > 0 or not a.indexable or (a.state = 'fetched' and not exists (
      select from pack.alternate b where b.run_id = p_run and b.from_key = a.target and b.to_key = a.from_key
    ))
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

-- What became of each finding of the site, now that this run is over. A run that did not see all pages says nothing of those
-- it did not see; one that did calls what is gone fixed.
create function pack.update_findings(p_run uuid) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run   pack.run;
  v_whole boolean;
begin
  select * into v_run from pack.run where run_id = p_run;
  perform from pack.site where site_id = v_run.site_id for update;  -- two runs of a site end one after the other
  v_whole := not exists (select from pack.url where run_id = p_run and state in ('queued', 'left'));
  update pack.finding f set
    last_run = p_run,
    state = case
      when i.key is null then 'fixed'
      when f.state = 'fixed' then 'regressed'
      when f.state = 'accepted' and coalesce(f.accepted_until > leasehold.now(), true) then 'accepted'
      else 'open'
    end,
    severity = coalesce(i.severity, f.severity)
  from pack.finding g left join pack.issue i on i.run_id = p_run and i.check_id = g.check_id and i.key = g.key
  where f.site_id = v_run.site_id and g.site_id = f.site_id and g.check_id = f.check_id and g.key = f.key
    and (v_whole or i.key is not null or exists (
      select from pack.url u where u.run_id = p_run and u.key = f.key and u.state not in ('queued', 'left')
    ));
  insert into pack.finding (site_id, check_id, key, tenant_id, url, severity, state, first_run, last_run)
  select v_run.site_id, i.check_id, i.key, i.tenant_id, u.url, i.severity, 'new', p_run, p_run
  from pack.issue i join pack.url u on u.run_id = p_run and u.key = i.key
  where i.run_id = p_run
  on conflict do nothing;
end
$$;

grant execute on function pack.measure_depth(uuid), pack.note_relations(uuid, jsonb), pack.update_findings(uuid) to leasehold_worker;
