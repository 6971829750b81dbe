-- All states of a job.
-- internal
-- settings: none
create or replace function leasehold.states() returns text[]
language sql immutable as $$ select array['scheduled', 'blocked', 'queued', 'running', 'succeeded', 'failed', 'dead', 'canceled'] $$;
