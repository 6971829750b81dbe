-- Open postings of other boards of the company that share a quarter of their SimHash with one of
-- these, oldest first.
-- for: worker
create or replace function pack.near_postings(p_tenant uuid, p_company uuid, p_postings uuid[])
returns table (
  mine uuid, posting_id uuid, simhash bigint, locations text[], requisition text, description text,
  first_seen timestamptz
)
language sql stable
as $$
  select distinct m.posting_id, p.posting_id, p.simhash, p.locations, p.requisition, p.description,
    p.first_seen
  from pack.band m
  join pack.posting own on own.posting_id = m.posting_id
  join pack.band o on o.tenant_id = p_tenant and o.company_id = p_company and o.band = m.band
    and o.value = m.value
  join pack.posting p on p.posting_id = o.posting_id and p.source_id <> own.source_id
    and p.state <> 'closed'
  where m.posting_id = any(p_postings)
  order by p.first_seen, p.posting_id
$$;
