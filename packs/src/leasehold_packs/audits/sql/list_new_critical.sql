-- Critical findings that a run has found for the first time, or again.
-- for: worker
create or replace function pack.list_new_critical(p_run uuid) returns table (check_id text, url text)
language sql stable
as $$
  select f.check_id, f.url
  from pack.finding f
  where f.last_run = p_run and f.severity = 'critical' and f.state in ('new', 'regressed')
  order by f.check_id, f.url
  limit 100
$$;
