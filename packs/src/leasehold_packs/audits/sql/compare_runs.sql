-- The issues that only one of two runs has: fixed are those that the later one lacks. n is their number without limit.
-- for: api
create or replace function pack.compare_runs(p_before uuid, p_after uuid, p_limit integer)
returns table (check_id text, key text, url text, fixed boolean, n bigint)
language sql stable
as $$
  select coalesce(a.check_id, b.check_id), encode(coalesce(a.key, b.key), 'hex'),
    coalesce(u.url, v.url), a.key is null, count(*) over ()
  from (select * from pack.issue i where i.run_id = p_after) a
  full join (select * from pack.issue i where i.run_id = p_before) b
    on b.check_id = a.check_id and b.key = a.key
  left join pack.url u on u.run_id = p_after and u.key = a.key
  left join pack.url v on v.run_id = p_before and v.key = b.key
  where a.key is null or b.key is null
  order by 1, 3
  limit p_limit
$$;
