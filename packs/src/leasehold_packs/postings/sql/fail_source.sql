-- The list of a source could not be read to its end, so nothing is said of its postings. False when
-- the run is over.
-- for: worker
create or replace function pack.fail_source(p_run uuid, p_source uuid, p_problem text)
returns boolean
language plpgsql
as $$
declare
  v_seq bigint := pack.next_seq(p_run);
begin
  if v_seq is null then
    return false;
  end if;
  update pack.run_source set state = 'failed', seq = v_seq, problem = p_problem,
    finished_at = leasehold.now()
  where run_id = p_run and source_id = p_source;
  update pack.source set health = 'failing', problem = p_problem, failures = failures + 1
  where source_id = p_source;
  update pack.run_item set facts = null, listed = null
  where run_id = p_run and source_id = p_source;
  return true;
end
$$;
