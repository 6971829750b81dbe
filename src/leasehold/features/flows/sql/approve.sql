-- Approve what a flow of the current tenant waits for: its step succeeds, with who did it and the note as its result.
create or replace function leasehold.approve(p_job uuid, p_note text default null) returns text
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$ select leasehold.decide(p_job, true, p_note) $$;

revoke all on function leasehold.approve(uuid, text) from public;
grant execute on function leasehold.approve(uuid, text) to leasehold_api, leasehold_worker;
