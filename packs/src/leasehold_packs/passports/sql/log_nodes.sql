-- Nodes of an issuer's log, by level and index.
-- for: api, worker
create or replace function pack.log_nodes(p_slug text, p_levels smallint[], p_indexes bigint[])
returns table (level smallint, index bigint, hash bytea)
language sql stable security definer
as $$
  select n.level, n.index, n.hash
  from unnest(p_levels, p_indexes) g(level, index)
  join pack.issuer i on i.slug = p_slug
  join pack.log_node n on n.tenant_id = i.tenant_id and n.level = g.level and n.index = g.index
$$;
