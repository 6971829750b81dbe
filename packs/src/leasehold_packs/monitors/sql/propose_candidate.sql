-- A page that looks like a product. What was decided stays decided; a product that is watched is no candidate.
-- for: worker
create or replace function pack.propose_candidate(
  p_tenant uuid, p_site uuid, p_key bytea, p_url text, p_guess jsonb, p_confidence double precision
) returns void
language sql
as $$
  insert into pack.candidate as c (tenant_id, site_id, key, url, guess, confidence)
  select p_tenant, p_site, p_key, p_url, p_guess, p_confidence
  where not exists (select from pack.product p where p.site_id = p_site and p.key = p_key)
  on conflict (site_id, key) do update set guess = excluded.guess, confidence = excluded.confidence
  where c.state = 'proposed'
$$;
