-- Pages that name another one as canonical, as a translation or in a sitemap, and what that one is.
-- for: api, worker
create or replace function pack.note_names(p_run uuid, p_severity jsonb) returns integer
language sql
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
