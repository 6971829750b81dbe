-- Whether schedules have to fire now, and when the next one will.
-- internal
-- settings: inherited
create or replace function leasehold.due_for_schedules(p_now timestamptz)
returns table (due text, next_at timestamptz)
language sql stable as $$
  select
    case when exists (
      select from leasehold.schedule s where not s.paused and s.next_at <= p_now
    ) then 'fire schedules' end,
    (
      select s.next_at from leasehold.schedule s where not s.paused and s.next_at > p_now
      order by s.next_at limit 1
    )
$$;
