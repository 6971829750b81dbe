-- A fact is what it is: only its state moves on, and never back.
-- internal
create or replace function pack.keep_fact() returns trigger
language plpgsql
as $$
declare
  v_as_it_was pack.fact := new;
begin
  if tg_op = 'DELETE' then
    perform pack.refuse(format('fact %s is kept', old.fact_id));
  end if;
  v_as_it_was.state := old.state;
  if v_as_it_was is distinct from old or old.state in ('superseded', 'dismissed') and new.state <> old.state then
    perform pack.refuse(format('fact %s is kept as it is', old.fact_id));
  end if;
  return new;
end
$$;

create or replace trigger keep before update or delete on pack.fact for each row execute function pack.keep_fact();
