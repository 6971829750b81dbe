-- Revoke a key of the current tenant; every process refuses it from its next request on. Logged.
-- for: api, operator
create or replace function leasehold.revoke_key(p_key_id text) returns void
language sql as $$ select leasehold.end_key(leasehold.current_tenant(), p_key_id) $$;
