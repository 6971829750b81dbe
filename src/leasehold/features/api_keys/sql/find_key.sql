-- What a key is, by its id, before anybody is signed in: whose it is, what it may do, and the digest to compare with.
-- No row for an id that is not there.
-- for: api
create or replace function leasehold.find_key(p_key_id text) returns table (
  tenant_id uuid, scopes text[], digest bytea, pepper_id text, is_live boolean, used_lately boolean
)
language sql stable as $$
  select
    k.tenant_id, k.scopes, k.digest, k.pepper_id,
    k.revoked_at is null and (k.expires_at is null or k.expires_at > n.now),
    coalesce(k.last_used_at > n.now - interval '1 minute', false)
  from leasehold.api_key k, (select leasehold.now() as now) n
  where k.key_id = p_key_id
$$;
