-- Make an endpoint of the current tenant; nothing is signed for it before put_endpoint_secret. Logged.
-- for: api, operator
create or replace function leasehold.create_endpoint(
  p_url text, p_events text[], p_format text default 'standard', p_header_names jsonb default '{}',
  p_max_in_flight integer default 10, p_timeout_s double precision default 15, p_disable_after_s double precision default 432000
) returns uuid
language plpgsql as $$
declare
  v_tenant   uuid := leasehold.current_tenant();
  v_now      timestamptz := leasehold.now();
  v_endpoint uuid := leasehold.new_id(leasehold.micros(v_now));
  v_event    text;
  v_most     integer;
begin
  if not exists (select from leasehold.tenant where tenant_id = v_tenant) then
    raise exception 'there is no tenant %', v_tenant using errcode = 'LH404';
  end if;
  v_most := leasehold.take_quota(v_tenant, 'endpoints');
  if (select count(*) from leasehold.endpoint where tenant_id = v_tenant) >= v_most then
    perform leasehold.refuse_more('endpoints', v_most);
  end if;
  foreach v_event in array p_events loop
    if v_event !~ '^([a-z0-9_]+(\.[a-z0-9_]+)*(\.\*)?|\*)$' or length(v_event) > 100 then
      raise exception '% is no type of event', quote_nullable(v_event) using errcode = 'LH400', hint = 'such as job.dead, job.* or *';
    end if;
  end loop;
  insert into leasehold.endpoint (
    endpoint_id, tenant_id, url, events, format, header_names, headers, max_in_flight, timeout_s, disable_after,
    state, state_at, created_at
  )
  values (
    v_endpoint, v_tenant, p_url, p_events, p_format, p_header_names, '{}', p_max_in_flight, p_timeout_s,
    make_interval(secs => p_disable_after_s), 'enabled', v_now, v_now
  );
  perform leasehold.log_action(v_tenant, 'endpoint.create', v_endpoint::text, jsonb_build_object('events', p_events, 'format', p_format));
  return v_endpoint;
exception when check_violation then
  raise exception 'an endpoint has 1 to 100 types of events, 1 to 100 deliveries at once, 1 to 60 s to answer, and is disabled after an hour to a year'
    using errcode = 'LH400';
end
$$;
