-- The postings of a source as they are known; recent ones are open, or were closed in the last 90
-- days.
-- for: worker
create or replace function pack.list_known(p_source uuid)
returns table (
  posting_id uuid, external_id text, state text, digest text, version integer, missing integer,
  title text, locations text[], requisition text, reposts integer, is_recent boolean
)
language sql stable
as $$
  select posting_id, external_id, state, digest, version, missing, title, locations, requisition,
    reposts, state <> 'closed' or coalesce(closed_at > leasehold.now() - interval '90 days', false)
  from pack.posting
  where source_id = p_source
$$;
