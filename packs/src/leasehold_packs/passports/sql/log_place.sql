-- The place of a leaf.
-- for: api
create or replace function pack.log_place(p_slug text, p_hash bytea) returns bigint
language sql stable security definer
as $$
  select n.index from pack.log_node n
  join pack.issuer i on i.tenant_id = n.tenant_id
  where i.slug = p_slug and n.level = 0 and n.hash = p_hash
$$;
