-- Make a new database ready to take a copy of a cell: what migration put there goes, and nobody may enter. Refused where
-- anybody lives, unless it is the rest of a copy of the same cell that was not finished.
create or replace function leasehold.empty_cell(p_cell text, p_schemas text[]) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_here leasehold.here;
  v_lane leasehold.lane;
begin
  select * into v_here from leasehold.here for update;
  if v_here.state = 'arriving' and v_here.cell <> p_cell then
    raise exception 'this database is to be cell %', v_here.cell using errcode = 'LH409', hint = 'name an empty one';
  elsif v_here.state <> 'arriving' and (exists (select from leasehold.tenant) or exists (select from leasehold.cell)) then
    raise exception 'there are tenants or cells in this database' using errcode = 'LH409', hint = 'name an empty one';
  end if;
  update leasehold.here set state = 'arriving', cell = p_cell;
  execute (
    select 'truncate ' || string_agg(c.oid::regclass::text, ', ')
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any(p_schemas) and c.relkind in ('r', 'p') and not c.relispartition
      and c.oid <> all (array['leasehold.here', 'leasehold.migration', 'leasehold.day', 'leasehold.collected', 'leasehold.lane']::regclass[])
      and c.oid <> 'leasehold.queue'::regclass
  );
  for v_lane in delete from leasehold.lane returning * loop
    execute format('drop sequence %s, %s', v_lane.clock, v_lane.floor);
  end loop;
  delete from leasehold.queue;
end
$$;

revoke all on function leasehold.empty_cell(text, text[]) from public;
grant execute on function leasehold.empty_cell(text, text[]) to leasehold_operator;
