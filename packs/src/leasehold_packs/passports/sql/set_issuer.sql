-- Who signs for the tenant. Another host is to be proven anew. False if slug or host would change
-- under keys.
-- for: api, worker
create or replace function pack.set_issuer(
  p_tenant uuid, p_slug text, p_name text, p_host text, p_did text
)
returns boolean
language plpgsql
as $$
begin
  insert into pack.issuer as i (tenant_id, slug, name, host, did)
  values (p_tenant, p_slug, p_name, p_host, p_did)
  on conflict (tenant_id) do update set
    slug = excluded.slug, name = excluded.name, host = excluded.host, did = excluded.did,
    challenge = case when i.host = excluded.host then i.challenge else excluded.challenge end,
    host_proven_at = case when i.host = excluded.host then i.host_proven_at end
  where i.did = excluded.did or not exists (select from pack.signing_key);
  return found;
end
$$;
