-- Keep bytes under their digest, once for each tenant.
create or replace function leasehold.put_bytes(p_tenant uuid, p_bytes bytea, p_media_type text) returns bytea
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  insert into leasehold.body (tenant_id, sha256, bytes, media_type, at)
  values (p_tenant, sha256(p_bytes), p_bytes, p_media_type, leasehold.now())
  on conflict (tenant_id, sha256) do update set at = excluded.at
  returning sha256
$$;

revoke all on function leasehold.put_bytes(uuid, bytea, text) from public;
