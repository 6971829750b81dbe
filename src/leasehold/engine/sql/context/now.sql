-- The only clock of the engine. A test database may replace it; nothing else can move it.
-- for: api, worker, operator, readonly
-- settings: none
create or replace function leasehold.now() returns timestamptz
language sql volatile as $$ select clock_timestamp() $$;
