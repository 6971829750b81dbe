-- Whether this can be the name of a kind: pack.verb.
-- internal
-- settings: none
create or replace function leasehold.is_kind(p_kind text) returns boolean
language sql immutable as $$ select p_kind ~ '^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$' and length(p_kind) <= 100 $$;
