-- Take back an invitation of the current tenant. Logged.
create or replace function leasehold.remove_invitation(p_invitation uuid) returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$ select leasehold.end_invitation(leasehold.current_tenant(), p_invitation) $$;

revoke all on function leasehold.remove_invitation(uuid) from public;
grant execute on function leasehold.remove_invitation(uuid) to leasehold_api, leasehold_operator;
