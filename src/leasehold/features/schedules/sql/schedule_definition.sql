-- What a person or a program says of a schedule: everything but its name and where it stands. The same in every session,
-- whatever its time zone.
-- internal
create or replace function leasehold.schedule_definition(p_schedule leasehold.schedule) returns jsonb
language sql immutable as $$
  select jsonb_build_object(
    'kind', p_schedule.kind, 'payload', p_schedule.payload, 'options', p_schedule.options, 'tick_as', p_schedule.tick_as,
    'cron', p_schedule.cron, 'every_s', p_schedule.every_s, 'at', p_schedule.at at time zone 'UTC', 'zone', p_schedule.zone,
    'starts_at', p_schedule.starts_at at time zone 'UTC', 'ends_at', p_schedule.ends_at at time zone 'UTC',
    'jitter_s', p_schedule.jitter_s, 'overlap', p_schedule.overlap,
    'catch_up', p_schedule.catch_up, 'catch_up_max', p_schedule.catch_up_max
  )
$$;
