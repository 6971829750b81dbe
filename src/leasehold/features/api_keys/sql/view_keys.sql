-- The keys of a tenant, or of the installation where the tenant is null, newest first.
-- internal
create or replace function leasehold.view_keys(p_tenant uuid) returns setof leasehold.key_view
language sql stable as $$
  select key_id, tenant_id, name, scopes, created_by, created_at, expires_at, revoked_at, last_used_at, queues
  from leasehold.api_key where tenant_id is not distinct from p_tenant
  order by created_at desc, key_id
  limit 1000
$$;
