-- A gate as a number. Two that had the same one would share their slots, once in 2^64.
-- internal
-- settings: none
create or replace function leasehold.gate_id(p_tenant uuid, p_gate text) returns bigint
language sql immutable as $$ select hashtextextended(coalesce(p_tenant::text, '') || '/' || p_gate, 1) $$;
