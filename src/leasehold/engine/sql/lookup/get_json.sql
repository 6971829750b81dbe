-- The JSON value with this digest.
-- internal
create or replace function leasehold.get_json(p_tenant uuid, p_sha256 bytea) returns jsonb
language sql stable as $$
  select convert_from(bytes, 'UTF8')::jsonb from leasehold.body where tenant_id = p_tenant and sha256 = p_sha256
$$;
