-- How many issues of a run are not accepted, by severity.
-- for: api
create or replace function pack.count_open(p_run uuid) returns table (severity text, n bigint)
language sql stable
as $$
  select i.severity, count(*)
  from pack.issues_of(p_run) i
  where i.state is distinct from 'accepted'
  group by i.severity
$$;
