-- The sites with candidates that wait for approval, the most first.
-- for: api
create or replace function pack.list_approval_queues()
returns table (site_id uuid, url text, waiting bigint, since timestamptz)
language sql stable
as $$
  select s.site_id, s.url, count(*), min(c.created_at)
  from pack.candidate c
  join pack.site s using (site_id)
  where c.state = 'proposed'
  group by s.site_id
  order by count(*) desc, s.url
  limit 100
$$;
