-- All states of a job.
create or replace function leasehold.states() returns text[]
language sql immutable
as $$ select array['scheduled', 'blocked', 'queued', 'running', 'succeeded', 'failed', 'dead', 'canceled'] $$;

revoke all on function leasehold.states() from public;
