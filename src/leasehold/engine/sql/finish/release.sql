-- Give one job back without a counted attempt, at once or after p_delay_s. False when the lease was gone.
-- for: worker
create or replace function leasehold.release(p_token bigint, p_delay_s double precision default 0) returns boolean
language sql as $$ select leasehold.finish(array[p_token], array['released'], null, null, array[p_delay_s]) = array[p_token] $$;
