-- A source that a run is to settle, locked until the transaction ends; no row when the run is over.
-- for: worker
create or replace function pack.open_settlement(p_run uuid, p_source uuid)
returns table (company_id uuid, options jsonb, list_digest text, complete boolean, problem text)
language plpgsql
as $$
begin
  perform from pack.source where source_id = p_source for update;
  return query
    select s.company_id, s.options, s.list_digest, r.complete, r.problem
    from pack.source s
    join pack.run_source r using (source_id)
    where r.run_id = p_run and r.source_id = p_source and r.state = 'running';
end
$$;
