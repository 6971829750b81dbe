-- A new key signs from now on; the one before only verifies.
-- for: api, worker
create or replace function pack.rotate_key(
  p_tenant uuid, p_key text, p_issuer text, p_public_key bytea, p_secret text,
  p_not_before timestamptz
) returns void
language sql
as $$
  update pack.signing_key set not_after = p_not_before
  where not_after is null and revoked_at is null;
  insert into pack.signing_key (tenant_id, key_id, issuer, public_key, secret, not_before)
  values (p_tenant, p_key, p_issuer, p_public_key, p_secret, p_not_before);
$$;
