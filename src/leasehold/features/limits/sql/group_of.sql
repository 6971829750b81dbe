-- The group whose bell this is.
-- internal
-- settings: none
create or replace function leasehold.group_of(p_bell uuid) returns bigint
language sql immutable as $$ select ('x' || left(replace(p_bell::text, '-', ''), 16))::bit(64)::bigint $$;
