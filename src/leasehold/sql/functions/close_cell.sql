-- Close a cell for good: from the commit on every write to a table of these schemas is refused with LH421.
--
-- The lock on each table conflicts with that of every writer. So when we have them all, whoever wrote has committed, and
-- whoever will write finds the trigger. Nothing is paid for it while a cell is open. It gives up before the second after
-- which PostgreSQL breaks a deadlock, and is called again: the victim would be somebody's work.
--
-- What is told by transaction ids is told first: they mean nothing elsewhere (see open_cell). The last thing written is a
-- farewell in the audit log. Changes are copied in the order of their commits: where the farewell is, everything is.
create or replace function leasehold.close_cell(p_schemas text[]) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '500ms'
as $$
declare
  v_table  regclass;
  v_tables regclass[];
begin
  lock table leasehold.here in access exclusive mode;
  if exists (select from leasehold.here where state = 'closed') then
    return;
  elsif not exists (select from leasehold.here where state = 'leaving') then
    raise exception 'this cell is not being moved' using errcode = 'LH409', hint = 'leasehold cells move';
  end if;
  perform pg_advisory_xact_lock(7506);  -- no partitions are made or dropped from here on
  v_tables := array(
    select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any(p_schemas) and c.relkind in ('r', 'p') and c.oid <> 'leasehold.here'::regclass
    order by c.relispartition, c.oid
  );
  foreach v_table in array v_tables loop
    execute format('lock table %s in share row exclusive mode', v_table);
  end loop;

  perform leasehold.collect_job_events();
  perform leasehold.log_action(null, 'cell.close', 'here');
  update leasehold.here set state = 'closed';
  foreach v_table in array v_tables loop
    execute format(
      'create trigger closed before insert or update or delete or truncate on %s for each statement execute function leasehold.refuse()',
      v_table
    );
  end loop;
end
$$;

revoke all on function leasehold.close_cell(text[]) from public;
grant execute on function leasehold.close_cell(text[]) to leasehold_operator;
