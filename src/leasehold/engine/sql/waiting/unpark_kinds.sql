-- Bring parked jobs of kinds that may run again back into their lanes, the oldest first, up to a thousand of each kind. The
-- kinds' locks are only tried: what is missed is done by the next attempt that ends, or by the workers' upkeep.
-- internal
-- settings: ordered
create or replace function leasehold.unpark_kinds() returns integer
language plpgsql as $$
declare
  v_floor bigint := pg_sequence_last_value('leasehold.token_floor');
  v_kind  text := '';
  v_room  bigint;
  v_rows  tid[];
  v_back  integer := 0;
begin
  loop
    select p.kind into v_kind from leasehold.parked p where p.kind > v_kind order by p.kind limit 1;
    exit when not found;
    continue when not pg_try_advisory_xact_lock(7511, hashtext(v_kind));
    select case when k.paused then 0 else k.max_running - leasehold.count_kind(v_kind, v_floor) end into v_room
    from leasehold.kind k where k.kind = v_kind;
    v_rows := array(
      select ctid from leasehold.parked where kind = v_kind order by kind, job_id
      limit least(greatest(coalesce(v_room, 1000), 0), 1000) for update skip locked
    );
    with gone as (
      delete from leasehold.parked where ctid = any(v_rows) returning lane, job_id, tenant_id, attempt, max_attempts, events, bound
    )
    insert into leasehold.ready (lane, pass, job_id, tenant_id, attempt, max_attempts, events, bound)
    select lane, leasehold.lane_clock(lane) + 1, job_id, tenant_id, attempt, max_attempts, events, bound from gone;
    v_back := v_back + cardinality(v_rows);
  end loop;
  return v_back;
end
$$;
