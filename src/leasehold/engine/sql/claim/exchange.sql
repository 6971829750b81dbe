-- Finish and claim in one call: one round trip and one commit for a batch of attempts. Returns up
-- to p_n grants, each with its fencing token; before them a row without a job for each token that
-- was refused, because its lease had been taken. In between, jobs that waited for their tenant to
-- have room come back.
--
-- Plans are pinned, here and in all that is called: the statistics of a queue table always look
-- empty, and a plan made for the empty table walks a million rows the day there is a backlog.
-- for: worker
-- settings: hot
create or replace function leasehold.exchange(
  p_worker uuid, p_queues text[], p_n integer,
  p_tokens bigint[], p_outcomes text[], p_results jsonb[], p_errors jsonb[], p_delays double precision[]
) returns setof leasehold.granted
language plpgsql as $$
declare
  v_parking  boolean;
  v_limited  boolean;    -- some kinds are
  v_tenants  uuid[];
  v_accepted bigint[];
  v_refused  leasehold.granted;
  v_only     uuid;       -- the tenant that the worker serves alone
  v_slots    bigint;
  v_lane     record;
  v_room     integer;
  v_granted  integer;
  v_first    integer := case when random() < 0.0625 then 1 + floor(random() * 3)::integer else 0 end;
  v_ahead    boolean := p_n >= 32 and cardinality(p_tokens) >= 32 and random() < 0.75;
begin
  select exists (select from leasehold.parked),
    exists (select from leasehold.kind where paused or max_running is not null)
  into v_parking, v_limited;
  if p_tokens <> '{}' then
    if v_parking then
      v_tenants := array(select distinct tenant_id from leasehold.lease where token = any(p_tokens));
    end if;
    v_accepted := leasehold.finish(p_tokens, p_outcomes, p_results, p_errors, p_delays);
    if cardinality(v_accepted) < cardinality(p_tokens) then
      foreach v_refused.token in array p_tokens loop
        continue when v_refused.token = any(v_accepted);
        return next v_refused;
      end loop;
    end if;
  end if;
  if p_n <= 0 then return; end if;
  if v_parking then
    perform leasehold.unpark(v_tenants);
  end if;
  -- The slots: a tenant that may run as many as all workers together can run needs no counting.
  select tenant_id, (select sum(slots) from leasehold.worker where ended_at is null) into v_only, v_slots
  from leasehold.worker where worker_id = p_worker and ended_at is null;
  if not found then
    raise exception 'worker % is not registered, or was declared lost', p_worker using errcode = 'LH411';
  end if;
  for v_lane in select * from leasehold.lanes_to_claim(p_queues, v_first, v_ahead) loop
    -- what features do in one lane may have put rows into any other
    continue when v_lane.is_empty and current_setting('leasehold.moves_rows', true) is distinct from 'on';
    v_room := least(p_n, leasehold.room_of_queue(v_lane.queue, v_lane.max_running));
    continue when v_room <= 0;
    return query select * from leasehold.claim_lane(
      p_worker, v_only, v_slots, v_limited,
      v_lane.lane, v_lane.queue, v_lane.clock, v_lane.floor, v_lane.start, v_room
    );
    get diagnostics v_granted = row_count;
    p_n := p_n - v_granted;
    exit when p_n <= 0;
  end loop;
end
$$;
