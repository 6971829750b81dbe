-- Why the list of a source cannot be read; nothing when the run is over.
-- for: worker
create or replace function pack.note_problem(p_run uuid, p_source uuid, p_problem text) returns void
language plpgsql
as $$
declare
  v_seq bigint := pack.next_seq(p_run);
begin
  update pack.run_source set problem = p_problem, seq = v_seq
  where v_seq is not null and run_id = p_run and source_id = p_source;
end
$$;
