-- The workers that are alive, and those that ended within the last hour.
-- for: operator
create or replace function leasehold.list_workers()
returns table (
  worker_id uuid, name text, version text, queues text[], kinds text[], slots integer, running bigint,
  lease_s real, started_at timestamptz, beat_at timestamptz, ended_at timestamptz
)
language sql stable as $$
  select
    w.worker_id, w.name, w.version, w.queues, w.kinds, w.slots,
    (select count(*) from leasehold.lease l where l.worker_id = w.worker_id),
    w.lease_s, w.started_at, w.beat_at, w.ended_at
  from leasehold.worker w
  where w.ended_at is null or w.ended_at > leasehold.now() - interval '1 hour'
  order by w.ended_at nulls first, w.name, w.worker_id
$$;
