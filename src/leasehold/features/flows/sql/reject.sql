-- Reject what a flow of the current tenant waits for: its step fails, and the policies of what follows it decide.
-- for: api, worker
create or replace function leasehold.reject(p_job uuid, p_note text default null) returns text
language sql volatile as $$ select leasehold.decide_approval(p_job, false, p_note) $$;
