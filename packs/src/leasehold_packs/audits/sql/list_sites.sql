-- The sites with their newest run, how many findings are open, and their newest scores.
-- for: api
create or replace function pack.list_sites()
returns table (
  site_id uuid, url text, last_run uuid, state text, score double precision, finished_at timestamptz,
  open bigint, critical bigint, scores double precision[]
)
language sql stable
as $$
  select s.site_id, s.url, r.run_id, r.state, r.score::float8, r.finished_at, f.open, f.critical,
    array(
      select p.score::float8
      from pack.run p
      where p.site_id = s.site_id and p.settles and p.score is not null
      order by p.created_at desc
      limit 20
    )
  from pack.site s
  left join lateral (
    select * from pack.run n where n.site_id = s.site_id order by n.created_at desc limit 1
  ) r on true
  cross join lateral (
    select count(*) as open, count(*) filter (where o.severity = 'critical') as critical
    from pack.finding o
    where o.site_id = s.site_id and o.state in ('new', 'open', 'regressed')
  ) f
  order by s.url
  limit 1000
$$;
