-- The keys of the installation, newest first, revoked ones too (at most 1000).
-- for: operator
create or replace function leasehold.list_operator_keys() returns setof leasehold.key_view
language sql stable as $$ select * from leasehold.view_keys(null) $$;
