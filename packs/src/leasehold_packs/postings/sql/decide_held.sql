-- The closings of a source that were held back are decided about: it is in good health again.
-- for: api, worker
create or replace function pack.decide_held(p_source uuid) returns void
language sql
as $$
  update pack.posting set held = false where source_id = p_source and held;
  update pack.source set held = null, problem = null, health = 'good' where source_id = p_source;
$$;
