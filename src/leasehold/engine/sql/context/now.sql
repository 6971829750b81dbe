-- The only clock of the engine. A test database may replace it; nothing else can move it.
create or replace function leasehold.now() returns timestamptz
language sql volatile
as $$ select clock_timestamp() $$;

revoke all on function leasehold.now() from public;
grant execute on function leasehold.now() to leasehold_api, leasehold_worker, leasehold_operator, leasehold_readonly;
