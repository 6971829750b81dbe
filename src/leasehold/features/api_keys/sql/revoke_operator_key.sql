-- Revoke a key of the installation; every process refuses it from its next request on. Logged.
-- for: operator
create or replace function leasehold.revoke_operator_key(p_key_id text) returns void
language sql as $$ select leasehold.end_key(null, p_key_id) $$;
