-- Of these locked ready rows (p_owners has the tenant of each), keep those whose tenants may still run them; take the rest
-- out of the lane. p_tenants are those whose limit may be reached.
--
-- Exact, because the running ones are counted under the tenant's lock. Claims of two workers want the same tenants all the
-- time, so the locks are waited for, in one order; but only by a transaction that has none yet: with some in hand they are
-- only tried (rows of a tenant that another claim is counting then stay for the next claim), and nobody waits in a circle.
-- internal
create or replace function leasehold.park_over_limit(
  p_rows tid[], p_owners uuid[], p_tenants uuid[], out kept tid[], out parked integer
)
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_indexscan = on set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_floor bigint := pg_sequence_last_value('leasehold.token_floor');
  v_mine  uuid[];
  v_full  uuid[];
  v_over  tid[];
begin
  parked := 0;
  if current_setting('leasehold.locks_tenants', true) = 'on' then
    v_mine := array(select t from unnest(p_tenants) t where pg_try_advisory_xact_lock(7505, hashtext(t::text)));
  else
    perform pg_advisory_xact_lock(7505, key) from (select distinct hashtext(t::text) as key from unnest(p_tenants) t order by 1) k;
    v_mine := p_tenants;
    perform set_config('leasehold.locks_tenants', 'on', true);
  end if;

  -- a new statement, so that it sees what was committed before the lock was ours
  v_full := array(
    select t.tenant_id
    from leasehold.tenant t
    join (select o, count(*) as n from unnest(p_owners) o group by o) asked on asked.o = t.tenant_id
    left join (
      select tenant_id, count(*) as n from leasehold.lease where token >= v_floor and tenant_id = any(v_mine) group by tenant_id
    ) running on running.tenant_id = t.tenant_id
    where t.tenant_id = any(v_mine) and asked.n + coalesce(running.n, 0) > t.may_run
  );
  if v_full = '{}' and cardinality(v_mine) = cardinality(p_tenants) then
    kept := p_rows;  -- by far the most claims
    return;
  end if;

  with room as materialized (
    select t.tenant_id, t.may_run - (
      select count(*) from leasehold.lease l where l.token >= v_floor and l.tenant_id = t.tenant_id
    ) as n
    from leasehold.tenant t where t.tenant_id = any(v_full)
  ),
  ranked as materialized (
    select r.ctid, r.tenant_id, row_number() over (partition by r.tenant_id order by r.pass, r.job_id) as place
    from leasehold.ready r where r.ctid = any(p_rows)
  )
  select
    array_agg(k.ctid) filter (where k.tenant_id <> all(p_tenants) or k.tenant_id = any(v_mine) and k.place <= coalesce(room.n, k.place)),
    array_agg(k.ctid) filter (where k.place > room.n)
  into kept, v_over
  from ranked k left join room on room.tenant_id = k.tenant_id;
  kept := coalesce(kept, '{}');

  with gone as (
    delete from leasehold.ready where ctid = any(v_over)
    returning job_id, tenant_id, lane, attempt, max_attempts, events, bound
  )
  insert into leasehold.parked (tenant_id, job_id, lane, attempt, max_attempts, events, bound)
  select tenant_id, job_id, lane, attempt, max_attempts, events, bound from gone;
  get diagnostics parked = row_count;
end
$$;
