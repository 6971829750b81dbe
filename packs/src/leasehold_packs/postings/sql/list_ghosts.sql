-- Open postings that may be there for show alone, those with the most signals first, then the
-- oldest.
-- for: api, worker
create or replace function pack.list_ghosts(
  p_days integer, p_reposts integer, p_company uuid, p_limit integer
)
returns table (
  posting_id uuid, company text, title text, url text, place text, open_days integer,
  reposts integer, reopened integer, valid_through text, signals text[]
)
language sql stable
as $$
  select * from (
    select p.posting_id, c.name, p.title, p.url, p.place, a.open_days, p.reposts, p.reopened,
      p.valid_through, array_remove(array[
        case when a.open_days > p_days then 'old' end,
        case when p.reposts >= p_reposts then 'reposted' end,
        case when p.reopened > 0 then 'reopened' end,
        case when left(p.valid_through, 10) < leasehold.now()::date::text then 'expired' end,
        case when a.open_days > p_days and p.version = 1 then 'unchanged' end
      ], null) as signals
    from pack.posting p
    join pack.company c using (company_id)
    cross join lateral (
      select floor(
        extract(epoch from leasehold.now() - coalesce(p.posted_at, p.first_seen)) / 86400
      )::integer as open_days
    ) a
    where p.state <> 'closed' and p.cluster_id = p.posting_id
      and (p_company is null or p.company_id = p_company)
  ) ghost
  where cardinality(ghost.signals) > 0
  order by cardinality(ghost.signals) desc, ghost.open_days desc, ghost.posting_id
  limit p_limit
$$;
