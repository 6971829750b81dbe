-- What the job p_job is to do about a delivery of the current tenant:
--
--   send      the event, where to, and the sealed secrets to sign with (newest first) and headers
--   busy      come back after delay_s: as much is under way to the endpoint as may be, was sent to it this minute, or it
--             rests after failures
--   wait      nothing: the endpoint is paused or wants an earlier delivery first, and what waits for it is sent later
--   disabled  nothing: the endpoint is disabled, and the delivery has failed
--   no row    nothing: it was delivered, was removed, or is another job's by now
--
-- An endpoint that is new, or has just failed, is tried one delivery at a time; and all such endpoints together take a
-- quarter of the workers' slots (and what claims at the same moment do not see of each other), or a hundred receivers that
-- hang would take them all. Those who find it busy are given slots one after
-- the other, so that a crowd before a slow door does not come back all at once. The endpoint's row is locked before the
-- delivery's, here and in finish_delivery_attempt, and weakly: an application may hold its transaction open after emit_event.
-- for: worker
create or replace function leasehold.start_delivery_attempt(p_delivery uuid, p_job uuid) returns setof leasehold.sending
language plpgsql as $$
declare
  c_margin   constant interval := '30 seconds';  -- after its timeout an attempt's worker is dead, or as good as
  c_burst    constant interval := '2 seconds';   -- workers look about once a second: so much of its rate comes at once
  v_now      timestamptz := leasehold.now();
  v_delivery leasehold.delivery;
  v_endpoint leasehold.endpoint;
  v_limit    integer;
  v_gap      interval;
  v_crowded  boolean := false;
  v_sending  leasehold.sending;
begin
  select * into v_delivery from leasehold.delivery
  where delivery_id = p_delivery and tenant_id = leasehold.current_tenant() and job_id = p_job and state = 'pending';
  if found then
    select * into v_endpoint from leasehold.endpoint where endpoint_id = v_delivery.endpoint_id for no key update;
  end if;
  if not found then
    return;
  end if;
  v_sending.reason := v_endpoint.reason;
  v_sending.endpoint_id := v_endpoint.endpoint_id;

  if v_endpoint.state = 'paused' or v_endpoint.ordered and not leasehold.is_next_in_order(v_delivery) then
    update leasehold.delivery set job_id = null, sending_until = null where delivery_id = p_delivery;
    v_sending.verdict := 'wait';
    v_sending.reason := case v_endpoint.state when 'paused' then 'the endpoint is paused' else 'an earlier delivery goes first' end;
    return next v_sending;
    return;
  elsif v_endpoint.state = 'disabled' then
    update leasehold.delivery
    set state = 'failed', reason = 'the endpoint is disabled: ' || v_endpoint.reason, ended_at = v_now, sending_until = null
    where delivery_id = p_delivery;
    v_sending.verdict := 'disabled';
    return next v_sending;
    return;
  end if;

  v_limit := case when v_endpoint.answers and not v_endpoint.ordered then v_endpoint.max_in_flight else 1 end;
  if not v_endpoint.answers then
    v_crowded := greatest(1, (select coalesce(sum(slots), 0) / 4 from leasehold.worker where ended_at is null)) <= (
      select count(*) from leasehold.delivery d join leasehold.endpoint e on e.endpoint_id = d.endpoint_id
      where d.sending_until > v_now and d.delivery_id <> p_delivery and not e.answers
    );
  end if;
  v_gap := make_interval(secs => 60.0 / v_endpoint.max_per_minute);
  if v_crowded or v_endpoint.resting_until > v_now or coalesce(v_endpoint.paced_at > v_now + c_burst, false) or v_limit <= (
    select count(*) from leasehold.delivery
    where endpoint_id = v_endpoint.endpoint_id and sending_until > v_now and delivery_id <> p_delivery
  ) then
    update leasehold.endpoint
    set next_slot = greatest(
      greatest(next_slot, resting_until, v_now)
        + case when v_crowded then interval '2 seconds' else make_interval(secs => greatest(mean_ms, 10) / 1000 / v_limit) end,
      paced_at - c_burst, next_slot + v_gap
    )
    where endpoint_id = v_endpoint.endpoint_id
    returning extract(epoch from next_slot - v_now) into v_sending.delay_s;
    v_sending.verdict := 'busy';
    return next v_sending;
    return;
  end if;

  if v_gap is not null then
    update leasehold.endpoint set paced_at = greatest(paced_at, v_now) + v_gap where endpoint_id = v_endpoint.endpoint_id;
  end if;
  update leasehold.delivery set sending_until = v_now + make_interval(secs => v_endpoint.timeout_s) + c_margin
  where delivery_id = p_delivery;
  v_sending.verdict := 'send';
  v_sending.url := v_endpoint.url;
  v_sending.format := v_endpoint.format;
  v_sending.header_names := v_endpoint.header_names;
  v_sending.timeout_s := v_endpoint.timeout_s;
  select event_id, jsonb_build_object(
    'id', event_id, 'type', type, 'api_version', '1', 'tenant', tenant_id, 'subject_type', subject_type, 'subject_id', subject_id,
    'occurred_at', to_jsonb(occurred_at at time zone 'UTC') #>> '{}' || 'Z', 'data', data
  ) into v_sending.event_id, v_sending.event
  from leasehold.webhook_event where event_id = v_delivery.event_id;
  select
    array_agg(name order by created_at desc), array_agg(key_id order by created_at desc),
    array_agg(wrapped order by created_at desc), array_agg(box order by created_at desc)
  into v_sending.names, v_sending.key_ids, v_sending.wrapped, v_sending.boxes
  from leasehold.secret where owner_id = v_endpoint.endpoint_id and coalesce(expires_at > v_now, true);
  return next v_sending;
end
$$;
