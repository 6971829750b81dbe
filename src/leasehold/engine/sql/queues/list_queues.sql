-- All queues with what waits and runs in them, counted up to a bound.
-- for: operator
create or replace function leasehold.list_queues(p_bound integer default 10000)
returns table (queue text, paused boolean, queued bigint, scheduled bigint, running bigint)
language sql stable as $$
  select
    q.queue, q.paused,
    (select count(*) from (select from leasehold.ready r where r.lane = any(l.lanes) and r.attempt >= 0 limit p_bound) x)
      + (select count(*) from (select from leasehold.blocked b where b.lane = any(l.lanes) limit p_bound) x)
      + (select count(*) from (select from leasehold.gated g where g.lane = any(l.lanes) limit p_bound) x)
      + (select count(*) from (select from leasehold.parked p where p.lane = any(l.lanes) limit p_bound) x),
    (select count(*) from (select from leasehold.deferred d where d.lane = any(l.lanes) limit p_bound) x),
    (select count(*) from (select from leasehold.lease e where e.lane = any(l.lanes) limit p_bound) x)
  from leasehold.queue q
  cross join lateral (select array_agg(lane) as lanes from leasehold.lane where lane.queue = q.queue) l
  order by q.queue
$$;
