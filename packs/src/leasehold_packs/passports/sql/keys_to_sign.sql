-- The keys that these versions are to be signed with, and the one that signs now, for the head of
-- the log.
-- for: worker
create or replace function pack.keys_to_sign(p_versions uuid[])
returns table (key_id text, issuer text, secret text, revoked_at timestamptz, is_current boolean)
language sql stable
as $$
  select k.key_id, k.issuer, k.secret, k.revoked_at, k.not_after is null and k.revoked_at is null
  from pack.signing_key k
  where k.not_after is null and k.revoked_at is null
    or k.key_id in (select v.key_id from pack.version v where v.version_id = any(p_versions))
$$;
