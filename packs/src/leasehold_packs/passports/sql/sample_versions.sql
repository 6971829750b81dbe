-- Some of the published versions, chosen by a seed.
-- for: worker
create or replace function pack.sample_versions(p_seed text, p_limit integer) returns setof uuid
language sql stable
as $$
  select version_id from pack.version
  where state in ('active', 'superseded', 'revoked')
  order by sha256(convert_to(version_id::text || p_seed, 'UTF8'))
  limit p_limit
$$;
