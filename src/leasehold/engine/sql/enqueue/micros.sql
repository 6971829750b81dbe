-- Microseconds since 1970, exactly.
-- internal
-- settings: none
create or replace function leasehold.micros(p_at timestamptz) returns bigint
language sql stable  -- as extract is: declared immutable it could not be inlined
as $$ select (extract(epoch from p_at) * 1000000)::bigint $$;
