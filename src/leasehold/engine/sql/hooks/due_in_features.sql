-- What features have to do now, by the names of their maintenance tasks, and when next; see lead.
-- internal
-- settings: inherited
create or replace function leasehold.due_in_features(p_now timestamptz)
returns table (due text, next_at timestamptz)
language sql stable as $$
  select * from leasehold.due_for_schedules(p_now)
  union all
  select * from leasehold.due_for_webhooks(p_now)
$$;
