-- A body of the current tenant, as it is kept: perhaps compressed, perhaps elsewhere. No row: there is none.
create or replace function leasehold.read_body(p_sha256 bytea) returns table (
  bytes bytea, coding text, object_key text, size bigint, media_type text, keep_until timestamptz
)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select b.bytes, b.coding, b.object_key, coalesce(b.size, length(b.bytes)), b.media_type, b.keep_until
  from leasehold.body b where b.tenant_id = leasehold.current_tenant() and b.sha256 = p_sha256
$$;

revoke all on function leasehold.read_body(bytea) from public;
grant execute on function leasehold.read_body(bytea) to leasehold_api, leasehold_worker;
