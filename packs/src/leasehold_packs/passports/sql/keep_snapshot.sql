-- A sealed snapshot is never changed again, nor is what belongs to it.
-- internal
create or replace function pack.keep_snapshot() returns trigger
language plpgsql
as $$
begin
  if old.state = 'sealed' then
    perform pack.refuse(format('snapshot %s is sealed', old.snapshot_id));
  end if;
  return coalesce(new, old);
end
$$;

create or replace trigger keep before update or delete on pack.snapshot for each row execute function pack.keep_snapshot();
