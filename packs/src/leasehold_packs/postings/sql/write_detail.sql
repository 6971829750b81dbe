-- The facts of one posting, or why they could not be read. False when the run is over.
-- for: worker
create or replace function pack.write_detail(
  p_run uuid, p_source uuid, p_external_id text, p_facts jsonb, p_digest text, p_problem text
) returns boolean
language plpgsql
as $$
declare
  v_seq bigint := pack.next_seq(p_run);
begin
  update pack.run_item set
    state = case when p_facts is null then 'error' else 'ready' end, seq = v_seq, facts = p_facts,
    digest = p_digest, problem = p_problem, listed = null
  where v_seq is not null and run_id = p_run and source_id = p_source
    and external_id = p_external_id;
  return v_seq is not null;
end
$$;
