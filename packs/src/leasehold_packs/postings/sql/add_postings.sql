-- New postings of a source, each the head of a cluster of its own.
-- for: worker
create or replace function pack.add_postings(p_source uuid, p_postings jsonb) returns void
language sql
as $$
  insert into pack.posting (
    posting_id, external_id, url, title, locations, place, remote, employment, seniority,
    department, requisition, salary, currency, yearly_min, yearly_max, posted_at, valid_through,
    description, digest, list_mark, simhash, repost_of, reposts, cluster_id, detail_at, tenant_id,
    source_id, company_id
  )
  select r.posting_id, r.external_id, r.url, r.title, r.locations, r.place, r.remote, r.employment,
    r.seniority, r.department, r.requisition, r.salary, r.currency, r.yearly_min, r.yearly_max,
    r.posted_at, r.valid_through, r.description, r.digest, r.list_mark, r.simhash, r.repost_of,
    r.reposts, r.posting_id, leasehold.now(), s.tenant_id, s.source_id, s.company_id
  from jsonb_populate_recordset(null::pack.posting, p_postings) r
  join pack.source s on s.source_id = p_source
$$;
