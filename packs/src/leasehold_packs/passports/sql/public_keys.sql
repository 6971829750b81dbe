-- The keys of an issuer, by its slug or its did.
-- for: api
create or replace function pack.public_keys(p_slug text, p_did text)
returns table (issuer text, public_key bytea, not_before timestamptz, not_after timestamptz, revoked_at timestamptz)
language sql stable security definer
as $$
  select i.did, k.public_key, k.not_before, k.not_after, k.revoked_at
  from pack.issuer i
  join pack.signing_key k on k.tenant_id = i.tenant_id and k.issuer = i.did
  where i.slug = p_slug or i.did = p_did
  order by k.not_before
$$;
