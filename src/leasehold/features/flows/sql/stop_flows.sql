-- Flows past their deadline are to stop; in all that are to stop, what has not started ends, and what runs is asked to. What
-- was released while the reason to stop was being written is found here, the next time.
-- internal
-- settings: index
create or replace function leasehold.stop_flows() returns integer
language plpgsql as $$
declare
  v_flow  uuid;
  v_moved integer := 0;
begin
  delete from leasehold.stop s using leasehold.flow f  -- of flows that ended in the moment when they were to stop
  where f.flow_id = s.flow_id and f.state <> 'running';
  insert into leasehold.stop (flow_id, state, reason)
  select f.flow_id, 'failed', format('not over by its deadline %s', f.deadline) from leasehold.flow f
  where f.state = 'running' and f.deadline <= leasehold.now() and not exists (select from leasehold.stop s where s.flow_id = f.flow_id);
  for v_flow in select distinct flow_id from leasehold.stop loop
    v_moved := v_moved + leasehold.stop_flow(v_flow);
  end loop;
  return v_moved;
end
$$;
