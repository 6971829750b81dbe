-- Keep a remote worker of a tenant, or one that serves all where the tenant is null. Kinds are names only: what their jobs
-- are like is not for whoever happens to run them.
--
-- The bounds matter to others: the slots of all workers decide whether a tenant's running jobs are counted at every claim.
-- internal
create or replace function leasehold.put_worker(
  p_tenant uuid, p_key text, p_name text, p_version text, p_queues text[], p_kinds text[], p_slots integer, p_lease_s real
) returns uuid
language plpgsql as $$
declare
  c_most   constant integer := 100;
  v_now    timestamptz := leasehold.now();
  v_worker uuid := leasehold.new_id(leasehold.micros(v_now));
begin
  if p_slots is null or p_slots not between 1 and 100 then
    raise exception 'a remote worker has 1 to 100 slots, not %', p_slots using errcode = 'LH400';
  end if;
  if p_lease_s is null or p_lease_s not between 1 and 3600 then
    raise exception 'a lease lasts 1 to 3600 s, not %', p_lease_s using errcode = 'LH400';
  end if;
  -- One at a time for each tenant, or two could each be the last that fits.
  perform pg_advisory_xact_lock(7505, hashtext(coalesce(p_tenant::text, '')));
  if (
    select count(*) from leasehold.worker
    where tenant_id is not distinct from p_tenant and key_id is not null and ended_at is null
  ) >= c_most then
    raise exception 'there are % remote workers already', c_most
      using errcode = 'LH429', hint = 'give each more slots, or wait until those that are gone are declared lost';
  end if;
  insert into leasehold.worker (
    worker_id, name, version, queues, kinds, slots, lease_s, started_at, beat_at, tenant_id, key_id
  )
  values (v_worker, p_name, p_version, p_queues, p_kinds, p_slots, p_lease_s, v_now, v_now, p_tenant, p_key);
  return v_worker;
end
$$;
