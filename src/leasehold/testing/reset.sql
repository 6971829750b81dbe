-- What lets a test database be used again: it notes whether its schema was changed, and puts its rows back.
drop event trigger if exists leasehold_reset_created;
drop event trigger if exists leasehold_reset_dropped;
drop schema if exists leasehold_reset cascade;
create schema leasehold_reset;

-- What a test created, altered or dropped, but for temporary tables.
create table leasehold_reset.altered (command text not null);

-- The same of what the engine makes while it runs: a reset drops it.
create table leasehold_reset.made (command text not null);

create function leasehold_reset.note_change() returns event_trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_context text;
begin
  get diagnostics v_context = pg_context;
  if tg_event = 'sql_drop' then
    insert into leasehold_reset.altered
    select tg_tag from pg_event_trigger_dropped_objects() where not is_temporary limit 1;
  elsif v_context like any (array['%.make_partitions(%', '%.create_queue(%']) then
    insert into leasehold_reset.made values (tg_tag);
  else
    insert into leasehold_reset.altered
    select tg_tag from pg_event_trigger_ddl_commands() where schema_name is distinct from 'pg_temp' limit 1;
  end if;
end
$$;

-- The tables and sequences that belong to a test: all but those of PostgreSQL and of this schema.
create view leasehold_reset.relations as
select c.oid::regclass as name, c.relkind as kind
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'S') and n.nspname <> 'leasehold_reset' and n.nspname !~ '^(pg_|information_schema$)';

-- Copies the rows and sequences that the database has now: the state to which a reset returns. It writes the function
-- `refill`, whose statements are planned once for each connection: there are some dozens of them in each reset.
create function leasehold_reset.keep() returns void
language plpgsql
as $$
declare
  v_relation record;
  v_columns text;
  v_rows boolean;
  v_empty text := '';
  v_fill text := '';
begin
  create table leasehold_reset.known as select * from leasehold_reset.relations;
  for v_relation in select name from leasehold_reset.relations where kind = 'r' loop
    v_empty := v_empty || format(
      'v_bytes := pg_relation_size(%s);'
      ' if v_bytes > 262144 then truncate %s cascade; elsif v_bytes > 0 then delete from only %2$s; end if;',
      v_relation.name::oid, v_relation.name
    );
    execute format('select exists (select from only %s)', v_relation.name) into v_rows;
    continue when not v_rows;
    select string_agg(quote_ident(attname), ', ' order by attnum) into v_columns
    from pg_attribute where attrelid = v_relation.name and attnum > 0 and not attisdropped and attgenerated = '';
    execute format('create table leasehold_reset.rows_%s as select %s from %s',
      v_relation.name::oid, v_columns, v_relation.name);
    v_fill := v_fill || format('insert into %s (%s) overriding system value select %2$s from leasehold_reset.rows_%s;',
      v_relation.name, v_columns, v_relation.name::oid);
  end loop;
  for v_relation in
    select s.oid, coalesce(q.last_value, q.start_value) as value, q.last_value is not null as is_called
    from pg_class s join pg_namespace n on n.oid = s.relnamespace
    join pg_sequences q on q.schemaname = n.nspname and q.sequencename = s.relname
    where s.relkind = 'S'
  loop
    v_fill := v_fill || format('perform setval(%s, %s, %L);', v_relation.oid, v_relation.value, v_relation.is_called);
  end loop;
  execute format(
    'create function leasehold_reset.refill() returns void language plpgsql'
    ' as $refill$ declare v_bytes bigint; begin %s %s end $refill$',
    v_empty, v_fill
  );
  create event trigger leasehold_reset_created on ddl_command_end execute function leasehold_reset.note_change();
  create event trigger leasehold_reset_dropped on sql_drop execute function leasehold_reset.note_change();
end
$$;

-- Ends all other connections but those to spare, and returns every table to the rows that were kept. False: the schema,
-- a setting or the statistics of the database are not those of its template any more, and it has to be dropped.
create function leasehold_reset.reset(p_spare integer[]) returns boolean
language plpgsql
set session_replication_role = replica  -- no triggers and no foreign keys: all rows are replaced
as $$
declare
  v_made record;
  v_deadline constant timestamptz := clock_timestamp() + interval '5 s';
begin
  loop  -- pg_terminate_backend itself would look again after 100 ms
    perform pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and pid <> all (p_spare);
    exit when not found or clock_timestamp() > v_deadline;
    perform pg_sleep(0.002), pg_stat_clear_snapshot();
  end loop;
  if exists (select from leasehold_reset.altered)
    or exists (select from pg_db_role_setting where setdatabase = (select oid from pg_database where datname = current_database()))
    or exists (select from pg_statistic s join leasehold_reset.known k on k.name = s.starelid)
  then
    return false;
  end if;
  if exists (select from leasehold_reset.made) then
    for v_made in select * from leasehold_reset.relations except select * from leasehold_reset.known loop
      execute format('drop %s %s', case v_made.kind when 'S' then 'sequence' else 'table' end, v_made.name);
    end loop;
    delete from leasehold_reset.made;
  end if;
  perform leasehold_reset.refill();
  return true;
end
$$;
