-- The place of a severity, the worst first.
-- for: api, worker
-- settings: none
create or replace function pack.severity_rank(p_severity text) returns integer
language sql immutable
as $$
  select array_position(array['critical', 'high', 'medium', 'low'], p_severity)
$$;
