-- At which group or gate a job waits.
-- internal
create or replace function leasehold.explain_limits(p_job uuid) returns table (reason text, detail text)
language sql stable as $$
  select 'group', case
    when p.n >= b.group_limit then format('group %s runs as many as it may (%s)', j.group_key, b.group_limit)
    else format('%s jobs of group %s stand before it', a.n, j.group_key)
  end
  from leasehold.blocked b
  join leasehold.job j on j.job_id = b.job_id
  cross join lateral (select count(*) as n from leasehold.place p where p.group_id = b.group_id) p
  cross join lateral (
    select case when count(*) > 1000 then 'more than 1000' else count(*)::text end as n
    from (select from leasehold.blocked x where x.group_id = b.group_id and x.seq < b.seq limit 1001) x
  ) a
  where b.job_id = p_job
  union all
  select 'gate', format('waits for gate %s until %s%s', t.gate, coalesce(b.at, leasehold.now()),
    case when a.n <> '0' then format(', and %s jobs stand before it', a.n) else '' end)
  from leasehold.gated d
  join leasehold.job j on j.job_id = d.job_id
  left join leasehold.gate_bell b on b.gate_id = d.gate_id and b.lane = d.lane and b.tenant_id = d.tenant_id
  cross join lateral (
    select coalesce((select g.gate from leasehold.gates_of(j) g where g.gate_id = d.gate_id), j.gate) as gate
  ) t
  cross join lateral (
    select case when count(*) > 1000 then 'more than 1000' else count(*)::text end as n
    from (
      select from leasehold.gated x
      where x.gate_id = d.gate_id and x.lane = d.lane and x.tenant_id = d.tenant_id and x.job_id < d.job_id
      limit 1001
    ) x
  ) a
  where d.job_id = p_job
$$;
