-- What the steps of a run had to say, oldest first.
-- for: api, worker
create or replace function pack.list_run_lines(
  p_run uuid, p_after bigint, p_parts text[], p_limit integer
)
returns table (log_id bigint, source text, source_id uuid, level text, message text, at timestamptz)
language sql stable
as $$
  select log_id, 'postings.' || part, source_id, level, message, at from pack.run_log
  where run_id = p_run and log_id > p_after and (p_parts is null or part = any(p_parts))
  order by log_id
  limit p_limit
$$;
