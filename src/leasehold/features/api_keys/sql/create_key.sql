-- Keep a new key of the current tenant. Logged.
-- for: api, operator
create or replace function leasehold.create_key(
  p_key_id text, p_digest bytea, p_pepper_id text, p_name text, p_scopes text[], p_expires_at timestamptz default null,
  p_queues text[] default null
) returns leasehold.key_view
language sql as $$
  select leasehold.put_key(leasehold.current_tenant(), p_key_id, p_digest, p_pepper_id, p_name, p_scopes, p_expires_at, p_queues)
$$;
