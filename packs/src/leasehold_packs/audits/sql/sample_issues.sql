-- The first issues of each check, the worst first, with how many pages have the fault, and how many are accepted.
-- for: api, worker
create or replace function pack.sample_issues(p_run uuid, p_each integer)
returns table (
  check_id text, severity text, key text, url text, evidence jsonb, state text, pages bigint, accepted bigint
)
language sql stable
as $$
  select i.check_id, i.severity, encode(i.key, 'hex'), i.url, i.evidence, i.state, i.pages, i.accepted
  from (
    select *, row_number() over (partition by o.check_id order by o.url) as place,
      count(*) over (partition by o.check_id) as pages,
      count(*) filter (where o.state = 'accepted') over (partition by o.check_id) as accepted
    from pack.issues_of(p_run) o
  ) i
  where i.place <= p_each
  order by pack.severity_rank(i.severity), i.check_id, i.url
$$;
