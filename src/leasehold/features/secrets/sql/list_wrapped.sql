-- Secrets of all tenants whose keys are not under the key p_key_id: what a change of keys has left to do. What the secrets
-- hold stays here.
-- for: operator
create or replace function leasehold.list_wrapped(p_key_id text, p_limit integer)
returns table (tenant_id uuid, name text, key_id text, wrapped bytea)
language sql stable as $$
  select tenant_id, name, key_id, wrapped from leasehold.secret
  where key_id <> p_key_id order by key_id, tenant_id, name limit p_limit
$$;
