-- The facts of the newest version of each of these postings.
-- for: worker
create or replace function pack.newest_facts(p_postings uuid[])
returns table (posting_id uuid, facts jsonb)
language sql stable
as $$
  select distinct on (posting_id) posting_id, facts from pack.version
  where posting_id = any(p_postings)
  order by posting_id, n desc
$$;
