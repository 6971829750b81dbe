-- The next number of a run that still goes on; null when it is over. Its row stays locked: who changes a run comes one by one.
-- for: api, worker
create or replace function pack.next_seq(p_run uuid) returns bigint
language sql
as $$
  update pack.run set seq = seq + 1 where run_id = p_run and state = 'running' returning seq
$$;
