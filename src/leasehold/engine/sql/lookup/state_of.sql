-- The state of a job, for whoever has just its id; null for one that is gone.
-- internal
create or replace function leasehold.state_of(p_job uuid) returns text
language sql stable
set enable_seqscan = off  -- PostgreSQL 15 would rather read a small table than its index, for each job anew
as $$ select state from leasehold.whereabouts(array[p_job]) $$;
