-- These jobs of a lane were sent to wait at gates. Those of their tenants that come next in the lane, and have to pass the
-- same gates, go there too: a long backlog for a shut gate would otherwise be met a claim's worth at a time. Not the rows
-- in p_not: the claim knows what becomes of those.
-- internal
create or replace function leasehold.follow_to_gates(p_lane integer, p_floor bigint, p_jobs uuid[], p_not tid[]) returns void
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_indexscan = on set enable_nestloop = on set jit = off
as $$
declare
  v_rows  tid[];
  v_jobs  uuid[];
  v_gates bigint[];
  v_until timestamptz[];
begin
  with shut as materialized (
    select distinct d.gate_id, d.tenant_id, b.at
    from leasehold.gated d
    join leasehold.gate_bell b on b.gate_id = d.gate_id and b.lane = d.lane and b.tenant_id = d.tenant_id
    where d.job_id = any(p_jobs)
  ),
  next as materialized (
    select distinct on (r.job_id) r.spot, r.job_id, s.gate_id, s.at
    from (select distinct tenant_id from shut) t
    cross join lateral (
      select r.ctid as spot, r.job_id, r.bound, r.attempt from leasehold.ready r
      where r.lane = p_lane and r.tenant_id = t.tenant_id and r.pass >= p_floor and r.ctid <> all(p_not)
      order by r.lane, r.tenant_id, r.pass limit 500
    ) r
    join leasehold.job j on r.bound and r.attempt >= 0 and j.job_id = r.job_id
    cross join lateral leasehold.gates_of(j) g
    join shut s on s.gate_id = g.gate_id and s.tenant_id = t.tenant_id
    order by r.job_id
  ),
  mine as materialized (
    select r.ctid as spot from leasehold.ready r where r.ctid = any(array(select spot from next)) for update skip locked
  )
  select array_agg(n.spot), array_agg(n.job_id), array_agg(n.gate_id), array_agg(n.at) into v_rows, v_jobs, v_gates, v_until
  from next n join mine m on m.spot = n.spot;
  if v_rows is not null then
    perform leasehold.wait_at_gates(v_rows, v_jobs, v_gates, v_until);
  end if;
end
$$;
