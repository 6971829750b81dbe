-- Give one job back without a counted attempt, at once or after p_delay_s. False when the lease was gone.
create or replace function leasehold.release(p_token bigint, p_delay_s double precision default 0) returns boolean
language sql security definer
set search_path = pg_catalog, pg_temp
as $$ select leasehold.finish(array[p_token], array['released'], null, null, array[p_delay_s]) = array[p_token] $$;

revoke all on function leasehold.release(bigint, double precision) from public;
grant execute on function leasehold.release(bigint, double precision) to leasehold_worker;
