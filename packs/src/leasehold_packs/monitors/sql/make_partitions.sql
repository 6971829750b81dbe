-- The partitions of this month and so many to come. Months begin at midnight UTC, so that none overlaps or leaves a gap.
-- A month that was late has rows in the default partition: they are moved.
-- for: worker
create or replace function pack.make_partitions(p_ahead integer default 3) returns integer
language plpgsql security definer
set timezone = 'UTC'
as $$
declare
  v_month timestamptz;
  v_table text;
  v_name  text;
  v_made  integer := 0;
begin
  for v_table, v_month in
    select t, date_trunc('month', leasehold.now()) + make_interval(months => n)
    from unnest(array['observation', 'visit']) t, generate_series(0, least(greatest(p_ahead, 0), 24)) n
  loop
    v_name := v_table || to_char(v_month, '_YYYYMM');
    continue when to_regclass('pack.' || v_name) is not null;
    perform pg_advisory_xact_lock(hashtextextended('pack.make_partitions', 0));
    continue when to_regclass('pack.' || v_name) is not null;
    execute format('create table pack.%I (like pack.%I including all)', v_name, v_table);
    execute format(
      'with late as (delete from pack.%I where at >= %L and at < %L returning *) insert into pack.%I select * from late',
      v_table || '_default', v_month, v_month + interval '1 month', v_name);
    execute format(
      'alter table pack.%I attach partition pack.%I for values from (%L) to (%L)',
      v_table, v_name, v_month, v_month + interval '1 month');
    v_made := v_made + 1;
  end loop;
  return v_made;
end
$$;

select pack.make_partitions();
