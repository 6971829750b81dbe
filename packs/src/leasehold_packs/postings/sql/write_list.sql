-- What a page of a list has (items), and whether it is the last one. A list that moves while it is
-- read has one posting on two pages. False when the run is over.
-- for: worker
create or replace function pack.write_list(
  p_run uuid, p_source uuid, p_tenant uuid, p_items jsonb, p_complete boolean
)
returns boolean
language plpgsql
as $$
declare
  v_seq bigint := pack.next_seq(p_run);
begin
  if v_seq is null then
    return false;
  end if;
  insert into pack.run_item
    (run_id, source_id, external_id, tenant_id, seq, state, title, list_mark, listed, facts, digest)
  select p_run, p_source, i.external_id, p_tenant, v_seq, i.state, i.title, i.list_mark, i.listed,
    i.facts, i.digest
  from jsonb_populate_recordset(null::pack.run_item, p_items) i
  on conflict (run_id, source_id, external_id) do nothing;
  update pack.run_source set pages = pages + 1, complete = p_complete, seq = v_seq, problem = null
  where run_id = p_run and source_id = p_source;
  return true;
end
$$;
