-- Leaves and nodes are written by the log alone, and stay as they are.
-- internal
create or replace function pack.keep_log() returns trigger
language plpgsql
as $$
begin
  if tg_op <> 'INSERT' or pg_trigger_depth() < 2 then
    perform pack.refuse(format('rows of %s are written by signing alone', tg_table_name));
  end if;
  return null;
end
$$;

create or replace trigger keep before insert or update or delete or truncate on pack.log_leaf
  for each statement execute function pack.keep_log();

create or replace trigger keep before insert or update or delete or truncate on pack.log_node
  for each statement execute function pack.keep_log();
