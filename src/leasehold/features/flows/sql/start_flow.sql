-- Start a flow of the current tenant, in the caller's transaction: all its steps, or none. Options: deadline, deadline_s.
--
-- Each step has kind and payload; name, options (those of enqueue; delay_s counts from when its parents have ended), after
-- (places of earlier steps, from 0), on_failure (when one of those does not succeed: fail, skip, continue) and wait. Steps of
-- these kinds have no handler and hold no worker:
--   flow.approval  waits for approve or reject; wait: seconds, by_default (approve, reject)
--   flow.signal    waits for send_signal; wait: signal, key (else the flow's id), seconds
--   flow.sleep     wait: seconds or until
--   flow.join      waits for its parents only
-- for: api, worker
-- settings: index
create or replace function leasehold.start_flow(p_name text, p_steps jsonb, p_options jsonb default '{}') returns uuid
language plpgsql as $$
declare
  v_tenant   uuid := leasehold.current_tenant();
  v_now      timestamptz := leasehold.now();
  v_flow     uuid := leasehold.new_id(leasehold.micros(v_now));
  v_deadline timestamptz;
  v_first    uuid[];
begin
  if p_name is null or p_name !~ '^[a-z0-9][a-z0-9_.-]{0,62}$' then
    raise exception '% is no name of a flow', quote_nullable(p_name)
      using errcode = 'LH400', hint = 'lower-case letters, digits, dots, dashes and underscores; at most 63';
  end if;
  if exists (select from jsonb_object_keys(p_options) o where o not in ('deadline', 'deadline_s')) then
    raise exception 'the options of a flow are deadline and deadline_s' using errcode = 'LH400';
  end if;
  if (p_options ->> 'deadline_s')::numeric not between 0.001 and 315576000 then
    raise exception 'deadline_s % is not between 0.001 and ten years', p_options ->> 'deadline_s' using errcode = 'LH400';
  end if;
  v_deadline := coalesce(
    (p_options ->> 'deadline')::timestamptz, v_now + make_interval(secs => (p_options ->> 'deadline_s')::double precision)
  );
  if v_deadline <= v_now then
    raise exception 'deadline % has passed', v_deadline using errcode = 'LH400';
  end if;
  perform leasehold.check_tenants(array[v_tenant]);

  insert into leasehold.flow (flow_id, tenant_id, name, state, deadline, created_at)
  values (v_flow, v_tenant, p_name, 'running', v_deadline, v_now);
  insert into leasehold.waiting (job_id, tenant_id, what) values (v_flow, v_tenant, 'end');
  insert into leasehold.news (flow_id, tenant_id, type, data, at)
  values (v_flow, v_tenant, 'started', jsonb_build_object('name', p_name, 'ended', 0), v_now);
  v_first := leasehold.insert_steps(v_tenant, v_flow, leasehold.read_steps(p_steps), array[v_flow], array['fail']);
  perform leasehold.update_flow_of_ended_jobs(leasehold.settle_steps(v_first || v_flow));
  return v_flow;
end
$$;
