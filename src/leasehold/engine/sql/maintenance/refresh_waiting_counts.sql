-- Keep the list of tenants over their quota, and return how many there are. It counts every waiting job, so whoever
-- calls it paces it by what it costs.
-- for: worker
-- settings: no jit
create or replace function leasehold.refresh_waiting_counts() returns integer
language plpgsql as $$
declare
  v_tenants uuid[];
  v_waiting bigint[];
begin
  select array_agg(t.tenant_id), array_agg(w.n) into v_tenants, v_waiting
  from (
    select tenant_id, count(*) as n
    from (
      select tenant_id from leasehold.ready where attempt >= 0
      union all select tenant_id from leasehold.blocked
      union all select tenant_id from leasehold.waiting where what <> 'end'
      union all select tenant_id from leasehold.gated
      union all select tenant_id from leasehold.parked
      union all select tenant_id from leasehold.deferred
    ) waiting
    group by tenant_id
  ) w
  join leasehold.tenant t on t.tenant_id = w.tenant_id and w.n > t.max_queued;

  delete from leasehold.over_quota where tenant_id <> all(coalesce(v_tenants, '{}'));
  insert into leasehold.over_quota (tenant_id, waiting, at)
  select t, n, leasehold.now() from unnest(v_tenants, v_waiting) u(t, n)
  on conflict (tenant_id) do nothing;
  update leasehold.tenant t set may_queue = not may_queue
  where may_queue = exists (select from leasehold.over_quota o where o.tenant_id = t.tenant_id);
  return coalesce(cardinality(v_tenants), 0);
end
$$;
