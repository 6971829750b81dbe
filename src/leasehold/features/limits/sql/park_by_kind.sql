-- Of these locked ready rows, keep those whose kinds may still run them; take the rest out of the lane. Busy are rows of a
-- kind that another transaction is counting: they stay for the next claim.
--
-- Exact, because the running ones are counted under the kind's lock. The locks are only tried, so nobody waits in a circle.
-- internal
-- settings: hot
create or replace function leasehold.park_by_kind(p_rows tid[], out kept tid[], out busy tid[], out parked integer)
language plpgsql as $$
declare
  v_floor bigint := pg_sequence_last_value('leasehold.token_floor');
  v_kinds text[];
  v_mine  text[];
  v_over  tid[];
begin
  busy := '{}';
  parked := 0;
  v_kinds := array(
    select distinct k.kind
    from leasehold.ready r
    join leasehold.job j on j.job_id = r.job_id
    join leasehold.kind k on k.kind = j.kind and (k.paused or k.max_running is not null)
    where r.ctid = any(p_rows)
  );
  if v_kinds = '{}' then
    kept := p_rows;
    return;
  end if;
  v_mine := array(select k from unnest(v_kinds) k where pg_try_advisory_xact_lock(7511, hashtext(k)));

  -- a new statement, so that it sees what was committed before the locks were ours
  with room as materialized (
    select k.kind, case when k.paused then 0 else k.max_running - leasehold.count_kind(k.kind, v_floor) end as n
    from leasehold.kind k where k.kind = any(v_mine)
  ),
  ranked as materialized (
    select r.ctid as spot, j.kind, row_number() over (partition by j.kind order by r.pass, r.job_id) as place
    from leasehold.ready r join leasehold.job j on j.job_id = r.job_id where r.ctid = any(p_rows)
  )
  select
    coalesce(array_agg(k.spot) filter (where k.kind <> all(v_kinds) or k.place <= room.n), '{}'),
    coalesce(array_agg(k.spot) filter (where k.kind = any(v_kinds) and k.kind <> all(v_mine)), '{}'),
    array_agg(k.spot) filter (where k.place > room.n)
  into kept, busy, v_over
  from ranked k left join room on room.kind = k.kind;

  with gone as (
    delete from leasehold.ready where ctid = any(v_over)
    returning job_id, tenant_id, lane, attempt, max_attempts, events, bound
  )
  insert into leasehold.parked (tenant_id, job_id, lane, attempt, max_attempts, events, bound, kind)
  select g.tenant_id, g.job_id, g.lane, g.attempt, g.max_attempts, g.events, g.bound, j.kind
  from gone g join leasehold.job j on j.job_id = g.job_id;
  get diagnostics parked = row_count;
end
$$;
