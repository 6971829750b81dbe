-- Those of these words that are in no posting of the tenant.
-- for: api, worker
create or replace function pack.unknown_words(p_words text[]) returns setof text
language sql stable security definer
set enable_seqscan = off
as $$
  select w from unnest(p_words) w
  where numnode(plainto_tsquery('pg_catalog.english', w)) > 0 and not exists (
    select from pack.posting
    where words @@ (('''tenant ' || leasehold.current_tenant() || '''')::tsquery && plainto_tsquery('pg_catalog.english', w))
  )
$$;
