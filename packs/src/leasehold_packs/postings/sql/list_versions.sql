-- The versions of a posting, the newest first.
-- for: api, worker
create or replace function pack.list_versions(p_posting uuid)
returns table (
  n integer, facts jsonb, minor boolean, valid_from timestamptz, valid_to timestamptz, run_id uuid
)
language sql stable
as $$
  select n, facts, minor, valid_from, valid_to, run_id from pack.version
  where posting_id = p_posting
  order by n desc
  limit 200
$$;
