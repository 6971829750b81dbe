-- How postings opened, closed and changed in each of the last weeks, oldest first, and how many
-- were open at its end.
-- for: api, worker
create or replace function pack.hiring_by_week(p_weeks integer, p_company uuid)
returns table (week text, opened bigint, closed bigint, changed bigint, open bigint)
language sql stable
as $$
  with week as (
    select begins, begins + interval '7 days' as ends
    from generate_series(
      date_trunc('week', leasehold.now(), 'UTC') - make_interval(weeks => p_weeks - 1),
      date_trunc('week', leasehold.now(), 'UTC'), interval '7 days'
    ) begins
  ), happened as (
    select w.begins, e.kind, count(*) as n
    from week w
    join pack.event e on e.at >= w.begins and e.at < w.ends
    join pack.posting p using (posting_id)
    where p_company is null or p.company_id = p_company
    group by w.begins, e.kind
  ), held as (
    select w.begins, count(*) as n
    from week w
    join pack.version v on v.valid_from < w.ends and (v.valid_to is null or v.valid_to >= w.ends)
    join pack.posting p using (posting_id)
    where p_company is null or p.company_id = p_company
    group by w.begins
  )
  select (w.begins at time zone 'UTC')::date::text,
    coalesce(sum(h.n) filter (where h.kind in ('opened', 'reposted', 'reopened')), 0)::bigint,
    coalesce(sum(h.n) filter (where h.kind = 'closed'), 0)::bigint,
    coalesce(sum(h.n) filter (where h.kind = 'changed'), 0)::bigint,
    coalesce(max(o.n), 0)::bigint
  from week w
  left join happened h on h.begins = w.begins
  left join held o on o.begins = w.begins
  group by w.begins
  order by w.begins
$$;
