-- Companies and how they hire: open postings, those of the last 30 days, and ghosts, which are open
-- for more than 90 days or were posted again at least twice.
-- for: api, worker
create or replace function pack.list_companies()
returns table (
  company_id uuid, name text, open bigint, opened_30_days bigint, closed_30_days bigint,
  ghosts bigint
)
language sql stable
as $$
  select c.company_id, c.name,
    count(p.posting_id) filter (where p.state <> 'closed'),
    count(*) filter (where p.first_seen > leasehold.now() - interval '30 days'),
    count(*) filter (where p.closed_at > leasehold.now() - interval '30 days'),
    count(*) filter (where p.state <> 'closed' and (
      p.reposts >= 2 or coalesce(p.posted_at, p.first_seen) < leasehold.now() - interval '90 days'
    ))
  from pack.company c
  left join pack.posting p using (company_id)
  group by c.company_id
  order by c.name
  limit 1000
$$;
