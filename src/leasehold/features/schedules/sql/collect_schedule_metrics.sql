-- How late the schedule is that should have fired first.
-- internal
create or replace function leasehold.collect_schedule_metrics()
returns table (metric text, labels jsonb, value double precision)
language sql stable as $$
  select 'schedule_overdue_seconds', '{}'::jsonb,
    coalesce(greatest(extract(epoch from leasehold.now() - min(next_at)), 0), 0)::double precision
  from leasehold.schedule where not paused
$$;
