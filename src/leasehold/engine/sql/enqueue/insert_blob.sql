-- Keep bytes of the engine under their digest, once for each tenant. One that a handler has put, compressed or as an
-- object, is replaced by the bytes as they are: the functions read them.
-- internal
create or replace function leasehold.insert_blob(p_tenant uuid, p_bytes bytea, p_media_type text) returns bytea
language sql volatile as $$
  with replaced as (
    insert into leasehold.loose_object (object_key, since)
    select object_key, leasehold.now() from leasehold.body
    where tenant_id = p_tenant and sha256 = sha256(p_bytes) and object_key is not null
    on conflict do nothing
  )
  insert into leasehold.body as b (tenant_id, sha256, bytes, media_type, at)
  values (p_tenant, sha256(p_bytes), p_bytes, p_media_type, leasehold.now())
  on conflict (tenant_id, sha256) do update set
    at = excluded.at, named = true, coding = null, size = null, object_key = null,
    bytes = case when b.coding is null and b.bytes is not null then b.bytes else excluded.bytes end
  returning sha256
$$;
