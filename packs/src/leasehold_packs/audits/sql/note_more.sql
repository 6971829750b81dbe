-- Issues of the site as a whole (p_root is its first page), of images, and of languages that do not agree. What a page says of
-- its translations counts only if search engines list it under its own address.
-- for: worker
create or replace function pack.note_more(p_run uuid, p_root bytea, p_severity jsonb) returns void
language sql
set enable_nestloop = off
as $$
  with found (check_id, key, evidence) as (
    select 'https_not_enforced', p_root, r.told -> 'insecure' from pack.run r where r.run_id = p_run and r.told ? 'insecure'
    union all
    select 'favicon_missing', p_root, '{}' from pack.run r join pack.url u on u.run_id = r.run_id and u.key = p_root
    where r.run_id = p_run and r.told ->> 'favicon' = 'false' and not u.has_icon
    union all
    select 'image_large', i.from_key, jsonb_build_object(
      'count', count(*), 'examples', (array_agg(distinct o.url || ' ' || o.size))[1:10]
    )
    from pack.image i join pack.outside o on o.tenant_id = i.tenant_id and o.key = i.to_key
    where i.run_id = p_run and o.size > 500000 and o.status < 400
    group by i.from_key
    union all
    select 'hreflang_mismatch', a.from_key, jsonb_build_object(
      'count', count(*), 'examples', (array_agg(a.hreflang || ' ' || u.url || ' says ' || u.lang order by a.hreflang))[1:10]
    )
    from pack.alternate a
    join pack.url u on u.run_id = p_run and u.key = a.to_key
    join pack.url p on p.run_id = p_run and p.key = a.from_key
    where a.run_id = p_run and pack.is_listed(p) and lower(a.hreflang) <> 'x-default'
      and lower(split_part(a.hreflang, '-', 1)) <> lower(split_part(u.lang, '-', 1))
    group by a.from_key
  )
  insert into pack.issue (run_id, check_id, key, tenant_id, severity, evidence)
  select p_run, f.check_id, f.key, u.tenant_id, p_severity ->> f.check_id, f.evidence
  from found f join pack.url u on u.run_id = p_run and u.key = f.key
  on conflict do nothing
$$;
