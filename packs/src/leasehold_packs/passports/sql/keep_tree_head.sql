-- A signed head stays as it is.
-- internal
create or replace function pack.keep_tree_head() returns trigger
language plpgsql
as $$
begin
  if tg_op <> 'INSERT' then
    perform pack.refuse(format('the head of the log at size %s is kept as it is', old.size));
  end if;
  if new.root is distinct from pack.log_root(new.tenant_id, new.size) then
    perform pack.refuse(format('the log does not have this root at size %s', new.size));
  end if;
  return new;
end
$$;

create or replace trigger keep before insert or update or delete on pack.tree_head for each row execute function pack.keep_tree_head();
