-- What a run found in the list of a source.
-- for: worker
create or replace function pack.list_items(p_run uuid, p_source uuid)
returns table (external_id text, state text, list_mark text, facts jsonb, digest text)
language sql stable
as $$
  select external_id, state, list_mark, facts, digest from pack.run_item
  where run_id = p_run and source_id = p_source
$$;
