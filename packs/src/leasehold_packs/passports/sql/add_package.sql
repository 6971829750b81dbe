-- A rule package as a draft, in the place of the draft of this name and version; null if that is
-- published.
-- for: api, worker
create or replace function pack.add_package(
  p_tenant uuid, p_name text, p_version text, p_hash text, p_source text, p_author text
) returns uuid
language sql
as $$
  insert into pack.rule_package as p (tenant_id, name, version, hash, source, author)
  values (p_tenant, p_name, p_version, p_hash, p_source, p_author)
  on conflict (tenant_id, name, version) do update set hash = excluded.hash,
  source = excluded.source
  where p.state = 'draft'
  returning package_id
$$;
