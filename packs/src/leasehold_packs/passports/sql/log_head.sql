-- The head at this size, or the newest.
-- for: api
create or replace function pack.log_head(p_slug text, p_size bigint) returns text
language sql stable security definer
as $$
  select h.head from pack.tree_head h
  join pack.issuer i on i.tenant_id = h.tenant_id
  where i.slug = p_slug and (p_size is null or h.size = p_size)
  order by h.size desc
  limit 1
$$;
