-- The size and root of the log as it is in this transaction, and whether a head of this size is
-- signed already.
-- for: worker
create or replace function pack.next_head()
returns table (size bigint, root bytea, at timestamptz, is_signed boolean)
language sql stable
as $$
  select l.index + 1, pack.log_root(l.tenant_id, l.index + 1), now(),
    exists (select from pack.tree_head h where h.size = l.index + 1)
  from pack.log_leaf l
  order by l.index desc
  limit 1
$$;
