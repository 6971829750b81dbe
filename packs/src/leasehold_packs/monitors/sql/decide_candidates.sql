-- Approve or reject candidates, all or these, that are sure enough; their addresses.
-- for: api
create or replace function pack.decide_candidates(
  p_site uuid, p_candidates uuid[], p_state text, p_by text, p_least double precision
) returns setof text
language sql
as $$
  update pack.candidate c set state = p_state, decided_by = p_by, decided_at = leasehold.now()
  where c.site_id = p_site and c.state = 'proposed'
    and (p_candidates is null or c.candidate_id = any(p_candidates))
    and c.confidence >= p_least::real
  returning c.url
$$;
