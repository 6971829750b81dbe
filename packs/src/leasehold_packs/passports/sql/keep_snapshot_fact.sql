-- The facts of a sealed snapshot stay as they are.
-- internal
create or replace function pack.keep_snapshot_fact() returns trigger
language plpgsql
as $$
declare
  v_of pack.snapshot_fact := coalesce(new, old);
begin
  -- The lock makes a seal that is about to commit wait for us, or us for it.
  if (select state from pack.snapshot where tenant_id = v_of.tenant_id and snapshot_id = v_of.snapshot_id for share) = 'sealed' then
    perform pack.refuse(format('snapshot %s is sealed', v_of.snapshot_id));
  end if;
  return v_of;
end
$$;

create or replace trigger keep before insert or update or delete on pack.snapshot_fact
  for each row execute function pack.keep_snapshot_fact();
