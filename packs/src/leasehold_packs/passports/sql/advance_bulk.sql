-- Lines of a bulk are done: of some, versions were made, others were refused.
-- for: worker
create or replace function pack.advance_bulk(
  p_bulk uuid, p_lines integer, p_made integer, p_refused jsonb
) returns void
language sql
as $$
  update pack.bulk set next_line = next_line + p_lines, made = made + p_made,
    refused = refused || p_refused
  where bulk_id = p_bulk
$$;
