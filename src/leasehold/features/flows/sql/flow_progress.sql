-- How far each of these flows is: the number of its newest event, and whether that is its end. Like job_heads, one look for
-- all streams of a process, of whichever tenants; it tells nothing else, and a stream was opened by its tenant before.
--
-- What happened to a flow becomes events a moment later, by write_flow_events: a flow is at its end when its newest event is the one
-- of its very end, which has the same time; not that of an earlier end, before a retry.
-- for: api
create or replace function leasehold.flow_progress(p_flows uuid[]) returns table (flow_id uuid, seq integer, ended boolean)
language sql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
  select f.flow_id, coalesce(e.seq, 0), coalesce(e.type = f.state and e.at = f.finished_at, false)
  from unnest(p_flows) u(flow_id)
  join leasehold.flow f on f.flow_id = u.flow_id
  left join lateral (
    select seq, type, at from leasehold.event where job_id = f.flow_id order by seq desc limit 1
  ) e on true
$$;
