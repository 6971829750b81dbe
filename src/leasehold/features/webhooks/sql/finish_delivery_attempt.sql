-- What came of an attempt to deliver; says what the delivery is then: delivered, pending (to be tried again), failed
-- (p_is_last), or disabled with its endpoint. 2xx is success. 410 disables the endpoint at once, and so does its window of
-- nothing but failures. From the second failure in a row on, the whole endpoint rests: 5 s, 10 s, … to 10 minutes, or as
-- long as the receiver asked for (p_rest_s). Where order matters, the next delivery is sent now.
-- for: worker
create or replace function leasehold.finish_delivery_attempt(
  p_delivery uuid, p_job uuid, p_status integer, p_error text, p_request_headers jsonb, p_response_body text,
  p_duration_ms integer, p_is_last boolean, p_rest_s double precision
) returns text
language plpgsql as $$
declare
  v_now      timestamptz := leasehold.now();
  v_tenant   uuid := leasehold.current_tenant();
  v_endpoint leasehold.endpoint;
  v_reason   text;
  v_state    text;
begin
  select e.* into v_endpoint
  from leasehold.delivery d join leasehold.endpoint e on e.endpoint_id = d.endpoint_id
  where d.delivery_id = p_delivery and d.tenant_id = v_tenant for no key update of e;
  if not found then
    raise exception 'there is no delivery %', p_delivery using errcode = 'LH404';
  end if;
  insert into leasehold.delivery_attempt (
    delivery_id, n, tenant_id, at, request_headers, status, response_body, error, duration_ms
  )
  select p_delivery, count(*) + 1, v_tenant, v_now, p_request_headers, p_status, left(p_response_body, 20000), p_error, p_duration_ms
  from leasehold.delivery_attempt where delivery_id = p_delivery;

  if p_status between 200 and 299 then
    update leasehold.endpoint set
      answers = true, failing_since = null, failures = 0, resting_until = null, mean_ms = 0.8 * mean_ms + 0.2 * p_duration_ms
    where endpoint_id = v_endpoint.endpoint_id and (not answers or next_slot > v_now);
    v_state := 'delivered';
  else
    v_reason := case
      when p_status = 410 then 'it answered 410 Gone'
      when v_endpoint.failing_since + v_endpoint.disable_after <= v_now
        then format('nothing but failures since %s', to_char(v_endpoint.failing_since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
    end;
    update leasehold.endpoint set
      answers = false, failing_since = coalesce(failing_since, v_now), failures = failures + 1,
      resting_until = greatest(
        case when failures >= 1 then v_now + make_interval(secs => least(600, 5 * power(2, least(failures - 1, 10)))) end,
        case when p_rest_s is not null then v_now + make_interval(secs => least(p_rest_s, 3600)) end
      )
    where endpoint_id = v_endpoint.endpoint_id;
    v_state := case when v_reason is not null then 'disabled' when p_is_last then 'failed' else 'pending' end;
  end if;

  -- A job that the delivery no longer belongs to has told what it did, and decides nothing.
  update leasehold.delivery set
    state = case v_state when 'disabled' then 'failed' else v_state end,
    reason = case when v_state in ('failed', 'disabled') then coalesce(p_error, 'answered ' || p_status) end,
    ended_at = case when v_state <> 'pending' then v_now end, sending_until = null
  where delivery_id = p_delivery and job_id = p_job and state = 'pending';

  if v_endpoint.ordered and v_state <> 'pending' then
    perform leasehold.send_deliveries(array(
      select delivery_id from leasehold.delivery
      where endpoint_id = v_endpoint.endpoint_id and state = 'pending' order by delivery_id limit 1
    ));
  end if;
  if v_reason is not null and v_endpoint.state = 'enabled' then
    update leasehold.endpoint set state = 'disabled', reason = v_reason, state_at = v_now where endpoint_id = v_endpoint.endpoint_id;
    perform leasehold.log_action(v_tenant, 'endpoint.disable', v_endpoint.endpoint_id::text, jsonb_build_object('reason', v_reason));
    perform leasehold.put_event(
      v_tenant, 'endpoint.disabled', 'endpoint', v_endpoint.endpoint_id::text,
      jsonb_build_object('endpoint_id', v_endpoint.endpoint_id, 'reason', v_reason)  -- a URL may be a secret of its receiver
    );
  end if;
  return v_state;
end
$$;
