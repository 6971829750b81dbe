-- Links to pages that are not there or are elsewhere, pages without links to them, and pages far from the start. The last
-- two are not judged where pages, or the rest of one, are missing whose links would count.
-- for: api, worker
create or replace function pack.note_links(p_run uuid, p_severity jsonb) returns integer
language sql
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
