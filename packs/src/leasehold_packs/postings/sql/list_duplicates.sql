-- Other postings of the same cluster, oldest first.
-- for: api, worker
create or replace function pack.list_duplicates(p_posting uuid, p_cluster uuid)
returns table (posting_id uuid, source_id uuid, url text, state text)
language sql stable
as $$
  select posting_id, source_id, url, state from pack.posting
  where cluster_id = p_cluster and posting_id <> p_posting
  order by first_seen
  limit 100
$$;
