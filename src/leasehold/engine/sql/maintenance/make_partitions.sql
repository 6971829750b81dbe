-- Make the partitions of today and the days ahead, where they are missing; returns how many days were made.
--
-- A day whose jobs already stand in the default partition (nobody made partitions for days) is left there: moving them
-- would need a long lock. The default partition serves them until retention removes them.
-- It gives up before the second after which PostgreSQL breaks a deadlock: the victim would be whoever reads.
-- for: worker, operator
create or replace function leasehold.make_partitions(p_days_ahead integer default 3) returns integer
language plpgsql
set lock_timeout = '500ms'
as $$
declare
  c_parents constant text[] := array['job', 'attempt_row', 'outcome', 'event'];
  v_today   date := (leasehold.now() at time zone 'UTC')::date;
  v_day     date;
  v_from    uuid;
  v_to      uuid;
  v_parent  text;
  v_made    integer := 0;
begin
  perform pg_advisory_xact_lock(7506);
  for v_day in select d from generate_series(v_today, v_today + p_days_ahead, interval '1 day') d loop
    continue when exists (select from leasehold.day where day = v_day);
    v_from := leasehold.first_id_of_day(v_day::timestamp at time zone 'UTC');
    v_to := leasehold.first_id_of_day((v_day + 1)::timestamp at time zone 'UTC');
    continue when exists (select from leasehold.job_default where job_id >= v_from and job_id < v_to);
    foreach v_parent in array c_parents loop
      -- made apart and then attached: that takes a lighter lock on the parent than "partition of" would
      execute format('create table leasehold.%1$I (like leasehold.%2$I including all)', v_parent || to_char(v_day, '_YYYYMMDD'), v_parent);
      execute format(
        'alter table leasehold.%2$I attach partition leasehold.%1$I for values from (%3$L) to (%4$L)',
        v_parent || to_char(v_day, '_YYYYMMDD'), v_parent, v_from, v_to
      );
    end loop;
    insert into leasehold.day (day) values (v_day);
    v_made := v_made + 1;
  end loop;
  return v_made;
end
$$;
