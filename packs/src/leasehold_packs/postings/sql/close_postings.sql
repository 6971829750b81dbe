-- Postings that are gone: no version of them is valid from now on.
-- for: api, worker
create or replace function pack.close_postings(p_postings uuid[]) returns void
language sql
as $$
  update pack.posting set state = 'closed', held = false, missing = missing + 1,
    closed_at = leasehold.now()
  where posting_id = any(p_postings);
  update pack.version set valid_to = leasehold.now()
  where posting_id = any(p_postings) and valid_to is null;
$$;
