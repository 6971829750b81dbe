-- How many pages have a fault in only one of two runs, by check.
-- for: worker
create or replace function pack.compare_checks(p_before uuid, p_after uuid)
returns table (check_id text, new bigint, gone bigint)
language sql stable
as $$
  select coalesce(a.check_id, b.check_id), count(*) filter (where b.key is null),
    count(*) filter (where a.key is null)
  from (select * from pack.issue i where i.run_id = p_after) a
  full join (select * from pack.issue i where i.run_id = p_before) b
    on b.check_id = a.check_id and b.key = a.key
  where a.key is null or b.key is null
  group by 1
  order by 1
$$;
