-- Bring parked jobs of these tenants (null: of all that have any) back into their lanes, as many as may run now, and those of
-- kinds.
-- The tenants' locks are only tried: what is missed is done by the next attempt that ends, or by the workers' upkeep.
-- for: worker
-- settings: ordered
create or replace function leasehold.unpark(p_tenants uuid[]) returns integer
language plpgsql as $$
declare
  v_floor  bigint := pg_sequence_last_value('leasehold.token_floor');
  v_tenant uuid;
  v_rows   tid[];
  v_back   integer := 0;
begin
  if not exists (select from leasehold.parked) then
    return 0;  -- asked at every poll: an idle system takes no transaction id
  end if;
  perform pg_current_xact_id();  -- before the clocks are read below: see enqueue
  perform set_config('leasehold.locks_tenants', 'on', true);  -- see park_over_limit
  foreach v_tenant in array coalesce(p_tenants, array(select distinct tenant_id from leasehold.parked where kind is null)) loop
    continue when not exists (select from leasehold.parked where tenant_id = v_tenant and kind is null)
      or not pg_try_advisory_xact_lock(7505, hashtext(v_tenant::text));
    v_rows := array(
      select ctid from leasehold.parked where tenant_id = v_tenant and kind is null order by tenant_id, job_id
      limit greatest(0,
        (select may_run from leasehold.tenant where tenant_id = v_tenant)
        - (select count(*) from leasehold.lease where token >= v_floor and tenant_id = v_tenant))
      for update skip locked
    );
    with gone as (
      delete from leasehold.parked where ctid = any(v_rows) returning lane, job_id, tenant_id, attempt, max_attempts, events, bound
    )
    insert into leasehold.ready (lane, pass, job_id, tenant_id, attempt, max_attempts, events, bound)
    select lane, leasehold.lane_clock(lane) + 1, job_id, tenant_id, attempt, max_attempts, events, bound from gone;
    v_back := v_back + cardinality(v_rows);
  end loop;
  return v_back + leasehold.unpark_kinds();
end
$$;
