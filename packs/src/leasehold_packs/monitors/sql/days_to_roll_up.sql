-- Today, and the first day to roll up: the one before the last that was, since that may not have been over.
-- for: worker
create or replace function pack.days_to_roll_up() returns table (today date, first date)
language sql stable
as $$
  select (leasehold.now() at time zone 'UTC')::date, coalesce(
    (select max(d.day) - 1 from pack.daily d),
    (select (min(o.at) at time zone 'UTC')::date from pack.observation o)
  )
$$;
