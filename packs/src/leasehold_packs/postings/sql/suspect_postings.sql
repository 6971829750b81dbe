-- A complete list lacks these for the first time.
-- for: worker
create or replace function pack.suspect_postings(p_postings uuid[]) returns void
language sql
as $$
  update pack.posting set state = 'suspect', missing = missing + 1
  where posting_id = any(p_postings)
$$;
