-- Pages that say the same. What a page says is hashed as text: a cast to bytea reads a backslash as an escape.
-- for: worker
create or replace function pack.note_duplicates(p_run uuid, p_severity jsonb) returns integer
language sql
set enable_nestloop = off
as $$
  with
  page as materialized (
    select * from pack.url u where u.run_id = p_run and pack.is_listed(u)
  ),
  shared as (
    select 'title_duplicate' as check_id, key, url, encode(sha256(convert_to(title, 'UTF8')), 'hex') as what,
      left(title, 200) as shown
    from page where title <> ''
    union all
    select 'description_duplicate', key, url, encode(sha256(convert_to(description, 'UTF8')), 'hex'),
      left(description, 200)
    from page where description <> ''
    union all
    select 'exact_duplicate', key, url, encode(content, 'hex'), null from page where words >= 50
  ),
  same as (
    select check_id, what, max(shown) as shown, count(*) as n, (array_agg(url order by url))[1:10] as urls
    from shared group by check_id, what having count(*) > 1
  ),
  banded as (
    select p.key, p.url, p.content, p.simhash, band, p.simhash >> (16 * band) & 65535 as value
    from page p cross join generate_series(0, 3) band where p.words >= 200 and p.simhash is not null
  ),
  near as (  -- two pages may be alike in more than one band
    select a.key, min(b.url) as url, count(distinct b.key) as n
    from banded a join banded b on b.band = a.band and b.value = a.value
    where a.key <> b.key and a.content <> b.content and bit_count((a.simhash # b.simhash)::bit(64)) <= 3
    group by a.key
  ),
  found (check_id, key, evidence) as (
    select s.check_id, s.key,
      jsonb_strip_nulls(jsonb_build_object('text', same.shown, 'pages', same.n, 'examples', same.urls))
    from shared s join same on same.check_id = s.check_id and same.what = s.what
    union all
    select 'near_duplicate', key, jsonb_build_object('pages', n, 'like', url) from near
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
