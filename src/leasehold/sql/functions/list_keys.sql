-- The keys of the current tenant, newest first, revoked ones too (at most 1000).
create or replace function leasehold.list_keys() returns setof leasehold.key_view
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$ select * from leasehold.view_keys(leasehold.current_tenant()) $$;

revoke all on function leasehold.list_keys() from public;
grant execute on function leasehold.list_keys() to leasehold_api, leasehold_operator;
