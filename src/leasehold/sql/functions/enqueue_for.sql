-- The same for a process that serves many tenants: one job for each payload, each for its own tenant, all of one kind and
-- with the same options. Callers of many tenants then share one commit. For the api role only, which may set any tenant.
create or replace function leasehold.enqueue_for(
  p_tenants uuid[], p_kind text, p_payloads jsonb[], p_options jsonb default '{}'
) returns setof leasehold.enqueued
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_options ? 'waits' then  -- for steps of flows only: see make_steps
    raise exception 'there is no option ''waits''' using errcode = 'LH400', hint = 'start a flow';
  end if;
  if cardinality(p_tenants) is distinct from cardinality(p_payloads) then
    raise exception '% tenants for % payloads', coalesce(cardinality(p_tenants), 0), coalesce(cardinality(p_payloads), 0)
      using errcode = 'LH400';
  end if;
  if p_options ? 'unique' then
    return query select * from leasehold.make_unique(p_tenants, p_kind, p_payloads, p_options, null);
    return;
  end if;
  return query select * from leasehold.make_jobs(p_tenants, p_kind, p_payloads, p_options, null);
end
$$;

revoke all on function leasehold.enqueue_for(uuid[], text, jsonb[], jsonb) from public;
grant execute on function leasehold.enqueue_for(uuid[], text, jsonb[], jsonb) to leasehold_api;
