-- What flows need done now and then: steps whose last parents ended at the same time are released, waits whose time is over
-- end, signals find those who began to wait meanwhile, flows past their deadline stop, and what happened becomes events.
-- Returns how many steps moved. One at a time: whoever finds it being done leaves it.
-- for: worker
-- settings: index
create or replace function leasehold.advance_flows() returns integer
language plpgsql as $$
declare
  v_late  uuid[];
  v_ended uuid[];
  v_moved integer;
begin
  if not exists (select from leasehold.flow where state = 'running') and not exists (select from leasehold.news) then
    return 0;  -- asked at every poll: an idle system takes no transaction id
  end if;
  if not pg_try_advisory_xact_lock(7530) then
    return 0;
  end if;
  with late as (delete from leasehold.unsettled returning child)
  select coalesce(array_agg(distinct child), '{}') into v_late from late;
  if v_late <> '{}' then
    perform leasehold.update_flow_of_ended_jobs(leasehold.settle_steps(v_late));
  end if;
  v_moved := cardinality(v_late) + leasehold.end_waits();
  v_ended := leasehold.deliver_signals(null);
  perform leasehold.update_flow_of_ended_jobs(v_ended);
  v_moved := v_moved + cardinality(v_ended) + leasehold.stop_flows();
  perform leasehold.write_flow_events();
  return v_moved;
end
$$;
