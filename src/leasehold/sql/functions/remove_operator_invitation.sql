-- Take back an invitation to the installation's staff. Logged.
create or replace function leasehold.remove_operator_invitation(p_invitation uuid) returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$ select leasehold.end_invitation(null, p_invitation) $$;

revoke all on function leasehold.remove_operator_invitation(uuid) from public;
grant execute on function leasehold.remove_operator_invitation(uuid) to leasehold_operator;
