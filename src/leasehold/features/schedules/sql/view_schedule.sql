-- A schedule as its owner sees it. Edited: its code declares something else than it is.
-- internal
create or replace function leasehold.view_schedule(p_schedule leasehold.schedule) returns leasehold.schedule_view
language sql stable as $$
  select (
    p_schedule.schedule_id, p_schedule.tenant_id, p_schedule.name, p_schedule.kind, p_schedule.payload, p_schedule.options,
    p_schedule.tick_as, p_schedule.cron, p_schedule.every_s, p_schedule.at, p_schedule.zone, p_schedule.starts_at,
    p_schedule.ends_at, p_schedule.jitter_s, p_schedule.overlap, p_schedule.catch_up, p_schedule.catch_up_max,
    p_schedule.origin, coalesce(p_schedule.declared <> leasehold.schedule_definition(p_schedule), false), p_schedule.paused,
    p_schedule.revision, p_schedule.next_at, p_schedule.last_at, p_schedule.last_job, p_schedule.created_at,
    p_schedule.updated_at
  )::leasehold.schedule_view
$$;
