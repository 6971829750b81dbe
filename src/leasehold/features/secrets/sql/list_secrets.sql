-- The secrets of the current tenant by name, without what they hold.
-- for: api, operator
create or replace function leasehold.list_secrets() returns table (name text, key_id text, created_at timestamptz, updated_at timestamptz)
language sql stable as $$
  select name, key_id, created_at, updated_at from leasehold.secret
  where tenant_id = leasehold.current_tenant() and owner_id is null order by name
$$;
