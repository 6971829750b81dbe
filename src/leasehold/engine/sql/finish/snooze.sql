-- Let one job come back after p_delay_s without a counted attempt. False when the lease was gone.
-- for: worker
create or replace function leasehold.snooze(p_token bigint, p_delay_s double precision) returns boolean
language sql as $$ select leasehold.finish(array[p_token], array['snoozed'], null, null, array[p_delay_s]) = array[p_token] $$;
