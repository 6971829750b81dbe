-- What only shows when all pages of a run are known, one function for each sort; how many issues.
-- for: worker
create or replace function pack.note_relations(p_run uuid, p_severity jsonb) returns integer
language sql
as $$
  select pack.note_duplicates(p_run, p_severity) + pack.note_links(p_run, p_severity) + pack.note_names(p_run, p_severity)
$$;
