-- Publish a rule package, or retire it.
-- for: api, worker
create or replace function pack.set_package_state(p_package uuid, p_state text) returns void
language sql
as $$
  update pack.rule_package set
    state = p_state, published_at = case when state = 'draft' then now() else published_at end
  where package_id = p_package
$$;
