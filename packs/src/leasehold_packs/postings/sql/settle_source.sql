-- The end of a source within a run: its counts and the outcomes of its items. With held, the
-- closings wait for a person. False when the run is over.
-- for: worker
create or replace function pack.settle_source(
  p_run uuid, p_source uuid, p_counts jsonb, p_outcomes jsonb, p_digest text, p_rung text,
  p_held jsonb, p_problem text
) returns boolean
language plpgsql
as $$
declare
  v_seq bigint := pack.next_seq(p_run);
begin
  if v_seq is null then
    return false;
  end if;
  update pack.run_source set
    state = case when p_held is null then 'succeeded' else 'held' end, seq = v_seq,
    counts = p_counts, list_digest = p_digest, rung = p_rung, finished_at = leasehold.now()
  where run_id = p_run and source_id = p_source;
  update pack.source set
    health = case when p_held is null then 'good' else 'suspicious' end, problem = p_problem,
    failures = 0, held = p_held,
    list_digest = case when p_held is null then p_digest else list_digest end,
    last_ok_at = case when p_held is null then leasehold.now() else last_ok_at end
  where source_id = p_source;
  update pack.run_item i set outcome = p_outcomes ->> i.external_id, seq = v_seq, facts = null,
    listed = null
  where i.run_id = p_run and i.source_id = p_source;
  return true;
end
$$;
