-- These postings, in any order.
-- for: api, worker
create or replace function pack.list_postings(p_postings uuid[])
returns table (
  posting_id uuid, source_id uuid, company_id uuid, company text, state text, url text, title text,
  locations text[], remote text, employment text, seniority text, department text,
  requisition text, salary jsonb, currency text, yearly_min double precision,
  yearly_max double precision, posted_at timestamptz, valid_through text, version integer,
  reposts integer, reopened integer, repost_of uuid, cluster_id uuid, first_seen timestamptz,
  last_seen timestamptz, closed_at timestamptz
)
language sql stable
as $$
  select p.posting_id, p.source_id, p.company_id, c.name, p.state, p.url, p.title, p.locations,
    p.remote, p.employment, p.seniority, p.department, p.requisition, p.salary, p.currency,
    p.yearly_min::float8, p.yearly_max::float8, p.posted_at, p.valid_through, p.version, p.reposts,
    p.reopened, p.repost_of, p.cluster_id, p.first_seen, p.last_seen, p.closed_at
  from pack.posting p
  join pack.company c using (company_id)
  where p.posting_id = any(p_postings)
$$;
