-- The lanes of these queues in the order in which a claim looks at them: where it looks (start),
-- how far back (floor), and whether there is nothing. Plain SQL without settings, so that it is
-- inlined into its caller.
--
-- p_first: the priority to begin with. One claim in sixteen begins at a lower one, so that none
-- starves. p_ahead: look from the clock on. Behind it stands what other claims are taking, and what
-- was taken and cannot be removed yet. Where many jobs end and many are asked for, three of four
-- claims pass that over. What came late is behind it too, so the fourth does not, nor one that
-- finds too few ahead.
-- internal
-- settings: none
create or replace function leasehold.lanes_to_claim(p_queues text[], p_first integer, p_ahead boolean)
returns table (
  lane integer, queue text, clock regclass, max_running integer, floor bigint, start bigint, is_empty boolean
)
language sql stable as $$
  select
    l.lane, l.queue, l.clock, q.max_running, f.floor, case when p_ahead then f.ahead else f.floor end,
    coalesce(
      case when p_ahead then (
        select r.lane from leasehold.ready r where r.lane = l.lane and r.pass >= f.ahead order by r.pass limit 1
      ) end,
      (select r.lane from leasehold.ready r where r.lane = l.lane and r.pass >= f.floor order by r.pass limit 1)
    ) is null
  from leasehold.lane l join leasehold.queue q on q.queue = l.queue
  -- In a row of their own: used inline they are volatile, become a filter, and a scan walks
  -- everything. One below the floor stand the jobs that this claim itself has let pass a gate.
  cross join lateral (
    select pg_sequence_last_value(l.floor) - 1 as floor, pg_sequence_last_value(l.clock) as ahead offset 0
  ) f
  where l.queue = any(p_queues) and not q.paused
  order by (l.priority + 4 - p_first) % 4, random()
$$;
