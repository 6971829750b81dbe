-- Reject what a flow of the current tenant waits for: its step fails, and the policies of what follows it decide.
create or replace function leasehold.reject(p_job uuid, p_note text default null) returns text
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$ select leasehold.decide(p_job, false, p_note) $$;

revoke all on function leasehold.reject(uuid, text) from public;
grant execute on function leasehold.reject(uuid, text) to leasehold_api, leasehold_worker;
