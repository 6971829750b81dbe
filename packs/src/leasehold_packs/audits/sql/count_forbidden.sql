-- How many pages robots.txt forbids, by its rule, the most first.
-- for: worker
create or replace function pack.count_forbidden(p_run uuid) returns table (rule text, n bigint)
language sql stable
as $$
  select i.evidence ->> 'rule', count(*)
  from pack.issue i
  where i.run_id = p_run and i.check_id = 'robots_blocked'
  group by 1
  order by 2 desc, 1
  limit 100
$$;
