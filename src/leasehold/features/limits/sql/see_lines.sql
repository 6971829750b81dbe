-- Where jobs stand in line, the longest lines first: at groups, at gates, and at the limit of what a tenant runs at once. At
-- most p_window jobs of each of the three are looked at, so that many is what waiting counts. held_by is the job that failed
-- and keeps its group waiting for a person. For a tenant its own jobs, for the operator all.
-- for: api, operator
-- settings: read
create or replace function leasehold.see_lines(p_window integer default 1000, p_limit integer default 20)
returns table (
  what text, tenant_id uuid, name text, waiting integer, first_job uuid, running integer,
  at_once integer, held_by uuid, state text, next_at timestamptz
)
language plpgsql stable as $$
#variable_conflict use_column
declare
  v_tenant uuid := leasehold.tenant_filter();
begin
  return query
    select 'group', g.tenant_id, j.group_key, g.n, j.job_id, p.running, g.group_limit, p.held_by,
      case when p.held_by is not null then 'held' end, null::timestamptz
    from (
      select b.tenant_id, b.group_id, count(*)::integer as n, (array_agg(b.job_id order by b.seq))[1] as first_job,
        (array_agg(b.group_limit::integer order by b.seq))[1] as group_limit
      from (
        select * from leasehold.blocked b where v_tenant is null or b.tenant_id = v_tenant limit p_window
      ) b
      group by b.tenant_id, b.group_id
      order by n desc, first_job
      limit p_limit
    ) g
    join leasehold.job j on j.job_id = g.first_job
    cross join lateral (
      select count(*)::integer as running, (array_agg(o.job_id) filter (where o.state in ('failed', 'dead')))[1] as held_by
      from (select * from leasehold.place p where p.group_id = g.group_id order by p.group_id limit 50) p
      left join leasehold.outcome o on o.job_id = p.job_id
    ) p;
  return query
    select 'gate', g.tenant_id, t.gate, g.n, j.job_id, null::integer, null::integer, null::uuid, v.state, g.next_at
    from (
      select d.tenant_id, d.gate_id, count(*)::integer as n, (array_agg(d.job_id order by d.job_id))[1] as first_job, (
          select min(b.at) from leasehold.gate_bell b where b.gate_id = d.gate_id and b.tenant_id = d.tenant_id
        ) as next_at
      from (
        select * from leasehold.gated d where v_tenant is null or d.tenant_id = v_tenant limit p_window
      ) d
      group by d.tenant_id, d.gate_id
      order by n desc, first_job
      limit p_limit
    ) g
    join leasehold.job j on j.job_id = g.first_job
    cross join lateral (
      select coalesce((select x.gate from leasehold.gates_of(j) x where x.gate_id = g.gate_id), j.gate) as gate
    ) t
    cross join lateral leasehold.view_gate(g.tenant_id, t.gate, 1) v;
  return query
    select 'limit', p.tenant_id, null::text, p.n, p.first_job, null::integer, t.max_running, null::uuid, null::text, null::timestamptz
    from (
      select p.tenant_id, count(*)::integer as n, (array_agg(p.job_id order by p.job_id))[1] as first_job
      from (
        select * from leasehold.parked p where p.kind is null and (v_tenant is null or p.tenant_id = v_tenant) limit p_window
      ) p
      group by p.tenant_id
      order by n desc
      limit p_limit
    ) p
    join leasehold.tenant t on t.tenant_id = p.tenant_id;
end
$$;
