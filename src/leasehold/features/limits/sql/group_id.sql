-- A group as a number. Two that had the same one would wait for each other, once in 2^64.
-- internal
-- settings: none
create or replace function leasehold.group_id(p_tenant uuid, p_key text) returns bigint
language sql immutable as $$ select hashtextextended(p_tenant::text || p_key, 0) $$;
