-- What flows need done now and then: steps whose last parents ended at the same time are released, waits whose time is over
-- end, signals find those who began to wait meanwhile, flows past their deadline stop, and what happened becomes events.
-- Returns how many steps moved. One at a time: whoever finds it being done leaves it.
create or replace function leasehold.tend_flows() returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set jit = off
as $$
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
    perform leasehold.leave_flows(leasehold.settle(v_late));
  end if;
  v_moved := cardinality(v_late) + leasehold.end_waits();
  v_ended := leasehold.deliver_signals(null);
  perform leasehold.leave_flows(v_ended);
  v_moved := v_moved + cardinality(v_ended) + leasehold.stop_flows();
  perform leasehold.tell_flows();
  return v_moved;
end
$$;

revoke all on function leasehold.tend_flows() from public;
grant execute on function leasehold.tend_flows() to leasehold_worker;
