-- Let one job come back after p_delay_s without a counted attempt. False when the lease was gone.
create or replace function leasehold.snooze(p_token bigint, p_delay_s double precision) returns boolean
language sql security definer
set search_path = pg_catalog, pg_temp
as $$ select leasehold.finish(array[p_token], array['snoozed'], null, null, array[p_delay_s]) = array[p_token] $$;

revoke all on function leasehold.snooze(bigint, double precision) from public;
grant execute on function leasehold.snooze(bigint, double precision) to leasehold_worker;
