-- What lets a test database be used again: it notes whether its schema was changed, and puts its rows back.
drop event trigger if exists leasehold_reset_created;
drop event trigger if exists leasehold_reset_dropped;
drop schema if exists leasehold_reset cascade;
create schema leasehold_reset;

create table leasehold_reset.sequence_start (sequence regclass primary key, value bigint not null, is_called boolean not null);

-- What a test created, altered or dropped, but for temporary tables, and what the engine makes while it runs.
create table leasehold_reset.altered (command text not null);

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
  elsif v_context not like all (array['%.make_partitions(%', '%.create_queue(%']) then
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

create view leasehold_reset.tables as select name from leasehold_reset.relations where kind = 'r';

-- Copies the rows and sequences that the database has now: the state to which a reset returns.
create function leasehold_reset.keep() returns void
language plpgsql
as $$
declare
  v_table regclass;
  v_columns text;
  v_rows boolean;
begin
  create table leasehold_reset.known as select * from leasehold_reset.relations;
  create table leasehold_reset.kept (name regclass primary key, copy text not null, columns text not null);
  for v_table in select name from leasehold_reset.tables loop
    execute format('select exists (select from %s)', v_table) into v_rows;
    continue when not v_rows;
    select string_agg(quote_ident(attname), ', ' order by attnum) into v_columns
    from pg_attribute where attrelid = v_table and attnum > 0 and not attisdropped and attgenerated = '';
    execute format('create table leasehold_reset.%I as select %s from %s', 'rows_' || v_table::oid, v_columns, v_table);
    insert into leasehold_reset.kept values (v_table, format('leasehold_reset.%I', 'rows_' || v_table::oid), v_columns);
  end loop;
  insert into leasehold_reset.sequence_start
  select s.oid, coalesce(q.last_value, q.start_value), q.last_value is not null
  from pg_class s join pg_namespace n on n.oid = s.relnamespace
  join pg_sequences q on q.schemaname = n.nspname and q.sequencename = s.relname
  where s.relkind = 'S';
  create event trigger leasehold_reset_created on ddl_command_end execute function leasehold_reset.note_change();
  create event trigger leasehold_reset_dropped on sql_drop execute function leasehold_reset.note_change();
end
$$;

-- Ends all other connections and returns every table to the rows that were kept. False: the schema, a setting or the
-- statistics of the database are not those of its template any more, and it has to be dropped.
create function leasehold_reset.reset() returns boolean
language plpgsql
set session_replication_role = replica  -- no triggers and no foreign keys: all rows are replaced
as $$
declare
  v_table regclass;
  v_made record;
  v_kept record;
  v_start record;
begin
  perform pg_terminate_backend(pid, 5000) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid();
  if exists (select from leasehold_reset.altered)
    or exists (select from pg_db_role_setting where setdatabase = (select oid from pg_database where datname = current_database()))
    or exists (select from pg_statistic s join leasehold_reset.tables t on t.name = s.starelid)
  then
    return false;
  end if;
  for v_made in select * from leasehold_reset.relations except select * from leasehold_reset.known loop
    execute format('drop %s %s', case v_made.kind when 'S' then 'sequence' else 'table' end, v_made.name);
  end loop;
  for v_table in select name from leasehold_reset.tables where pg_relation_size(name) > 0 loop
    if pg_relation_size(v_table) > 262144 then
      execute format('truncate %s cascade', v_table);
    else
      execute format('delete from %s', v_table);
    end if;
  end loop;
  for v_kept in select name, copy, columns from leasehold_reset.kept loop
    execute format('insert into %s (%s) overriding system value select %2$s from %3$s', v_kept.name, v_kept.columns, v_kept.copy);
  end loop;
  for v_start in
    select s.sequence, s.value, s.is_called
    from leasehold_reset.sequence_start s
    join pg_sequences q on format('%I.%I', q.schemaname, q.sequencename)::regclass = s.sequence
    where q.last_value is not null
  loop
    perform setval(v_start.sequence, v_start.value, v_start.is_called);
  end loop;
  return true;
end
$$;
