-- Drop what is left of past months when no tenant has a row in it any more. Nobody's rows are ever touched.
-- for: worker
create or replace function pack.drop_empty_partitions() returns integer
language plpgsql security definer
set timezone = 'UTC' set lock_timeout = '2s'
as $$
declare
  v_name    text;
  v_rows    boolean;
  v_dropped integer := 0;
begin
  for v_name in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent in ('pack.observation'::regclass, 'pack.visit'::regclass)
      and c.relname ~ '_\d{6}$'
      and right(c.relname, 6) < to_char(leasehold.now(), 'YYYYMM')
  loop
    execute format('lock table pack.%I in access exclusive mode', v_name);
    execute format('select exists (select from pack.%I)', v_name) into v_rows;
    if not v_rows then
      execute format('drop table pack.%I', v_name);
      v_dropped := v_dropped + 1;
    end if;
  end loop;
  return v_dropped;
exception when lock_not_available then
  return 0;  -- the next time
end
$$;
