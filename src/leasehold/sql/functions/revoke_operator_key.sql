-- Revoke a key of the installation; every process refuses it from its next request on. Logged.
create or replace function leasehold.revoke_operator_key(p_key_id text) returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$ select leasehold.end_key(null, p_key_id) $$;

revoke all on function leasehold.revoke_operator_key(text) from public;
grant execute on function leasehold.revoke_operator_key(text) to leasehold_operator;
