-- Drop the days that are older than p_days; returns how many. A job that still waits or runs is never dropped: it moves
-- to the default partition, with its attempts and events, under its own id.
-- It gives up before the second after which PostgreSQL breaks a deadlock: the victim would be whoever reads.
-- for: worker, operator
create or replace function leasehold.drop_partitions(p_days integer default 90) returns integer
language plpgsql
set lock_timeout = '500ms'
as $$
declare
  c_parents constant text[] := array['job', 'attempt_row', 'outcome', 'event'];
  v_today   date := (leasehold.now() at time zone 'UTC')::date;
  v_day     date;
  v_live    uuid[];
  v_parent  text;
  v_dropped integer := 0;
begin
  perform pg_advisory_xact_lock(7506);
  for v_day in select day from leasehold.day where day < v_today - p_days order by day limit 7 loop
    -- detached first: from now on nobody can claim, cancel or retry these jobs until we commit
    foreach v_parent in array c_parents loop
      execute format('alter table leasehold.%I detach partition leasehold.%I', v_parent, v_parent || to_char(v_day, '_YYYYMMDD'));
    end loop;
    v_live := leasehold.unfinished_jobs(
      leasehold.first_id_of_day(v_day::timestamp at time zone 'UTC'), leasehold.first_id_of_day((v_day + 1)::timestamp at time zone 'UTC')
    );
    foreach v_parent in array c_parents loop
      execute format(
        'insert into leasehold.%I select * from leasehold.%I where job_id = any($1)', v_parent, v_parent || to_char(v_day, '_YYYYMMDD')
      ) using v_live;
      execute format('drop table leasehold.%I', v_parent || to_char(v_day, '_YYYYMMDD'));
    end loop;
    delete from leasehold.day where day = v_day;
    v_dropped := v_dropped + 1;
  end loop;
  return v_dropped;
end
$$;
