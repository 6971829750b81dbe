-- A signed head of the log.
-- for: worker
create or replace function pack.add_head(
  p_tenant uuid, p_size bigint, p_root bytea, p_at timestamptz, p_key text, p_head text
) returns void
language sql
as $$
  insert into pack.tree_head (tenant_id, size, root, at, key_id, head)
  values (p_tenant, p_size, p_root, p_at, p_key, p_head)
$$;
