-- A package that was published stays as it is; only its state goes on.
-- internal
create or replace function pack.keep_rule_package() returns trigger
language plpgsql
as $$
declare
  v_as_it_was pack.rule_package := new;
begin
  if old.state = 'draft' then
    return coalesce(new, old);
  end if;
  v_as_it_was.state := old.state;
  if tg_op = 'DELETE' or v_as_it_was is distinct from old or new.state = 'draft' then
    perform pack.refuse(format('rule package %s %s is published', old.name, old.version));
  end if;
  return new;
end
$$;

create or replace trigger keep before update or delete on pack.rule_package for each row execute function pack.keep_rule_package();
