-- Secrets of all tenants whose keys are not under the key p_key_id: what a change of keys has left to do. What the secrets
-- hold stays here.
create or replace function leasehold.list_wrapped(p_key_id text, p_limit integer)
returns table (tenant_id uuid, name text, key_id text, wrapped bytea)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select tenant_id, name, key_id, wrapped from leasehold.secret
  where key_id <> p_key_id order by key_id, tenant_id, name limit p_limit
$$;

revoke all on function leasehold.list_wrapped(text, integer) from public;
grant execute on function leasehold.list_wrapped(text, integer) to leasehold_operator;
