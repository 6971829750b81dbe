-- End a run as it is; false when it was over already. What was not settled is not settled any more.
-- for: api, worker
create or replace function pack.stop_run(p_run uuid, p_state text, p_reason text) returns boolean
language plpgsql
as $$
declare
  v_seq bigint := pack.next_seq(p_run);
begin
  if v_seq is null then
    return false;
  end if;
  update pack.run_source set state = p_state, seq = v_seq, finished_at = leasehold.now()
  where run_id = p_run and state = 'running';
  update pack.run set state = p_state, reason = p_reason, finished_at = leasehold.now() where run_id = p_run;
  update pack.run_item set facts = null, listed = null where run_id = p_run and (facts is not null or listed is not null);
  return true;
end
$$;
