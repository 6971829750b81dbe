-- Each of these postings is a cluster of its own again. Two boards of a company that settle at once
-- would not see each other's postings, so the second one waits. The clusters that these and the
-- closed ones were in.
-- for: worker
create or replace function pack.leave_clusters(p_company uuid, p_postings uuid[], p_closed uuid[])
returns setof uuid
language plpgsql
as $$
begin
  perform from pack.company where company_id = p_company for no key update;
  return query select distinct cluster_id from pack.posting
  where posting_id = any(p_postings || p_closed);
  update pack.posting set cluster_id = posting_id where posting_id = any(p_postings);
end
$$;
