-- The keys of the current tenant, newest first, revoked ones too (at most 1000).
-- for: api, operator
create or replace function leasehold.list_keys() returns setof leasehold.key_view
language sql stable as $$ select * from leasehold.view_keys(leasehold.current_tenant()) $$;
