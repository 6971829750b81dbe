-- Approve what a flow of the current tenant waits for: its step succeeds, with who did it and the note as its result.
-- for: api, worker
create or replace function leasehold.approve(p_job uuid, p_note text default null) returns text
language sql volatile as $$ select leasehold.decide_approval(p_job, true, p_note) $$;
