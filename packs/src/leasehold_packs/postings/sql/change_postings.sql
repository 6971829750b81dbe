-- Postings that say something else now, or are open again.
-- for: worker
create or replace function pack.change_postings(p_postings jsonb) returns void
language sql
as $$
  update pack.posting p set
    url = r.url, title = r.title, locations = r.locations, place = r.place, remote = r.remote,
    employment = r.employment, seniority = r.seniority, department = r.department,
    requisition = r.requisition, salary = r.salary, currency = r.currency,
    yearly_min = r.yearly_min, yearly_max = r.yearly_max, posted_at = r.posted_at,
    valid_through = r.valid_through, description = r.description, digest = r.digest,
    list_mark = r.list_mark, simhash = r.simhash, version = r.version, state = 'open',
    closed_at = null, reopened = p.reopened + (p.state = 'closed')::integer
  from jsonb_populate_recordset(null::pack.posting, p_postings) r
  where p.posting_id = r.posting_id
$$;
