-- A body of the current tenant, as it is kept: perhaps compressed, perhaps elsewhere. No row: there is none.
-- for: api, worker
create or replace function leasehold.get_blob(p_sha256 bytea) returns table (
  bytes bytea, coding text, object_key text, size bigint, media_type text, keep_until timestamptz
)
language sql stable as $$
  select b.bytes, b.coding, b.object_key, coalesce(b.size, length(b.bytes)), b.media_type, b.keep_until
  from leasehold.body b where b.tenant_id = leasehold.current_tenant() and b.sha256 = p_sha256
$$;
