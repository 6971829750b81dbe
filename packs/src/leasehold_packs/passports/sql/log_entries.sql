-- Leaves from a place on, for those who watch the log.
-- for: api
create or replace function pack.log_entries(p_slug text, p_from bigint, p_limit integer) returns table (index bigint, hash bytea)
language sql stable security definer
as $$
  select n.index, n.hash from pack.log_node n
  join pack.issuer i on i.tenant_id = n.tenant_id
  where i.slug = p_slug and n.level = 0 and n.index >= p_from
  order by n.index
  limit least(p_limit, 1000)
$$;
