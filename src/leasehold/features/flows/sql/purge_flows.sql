-- Remove flows that ended longer ago than the history reaches, and signals that nobody took in that time. A bounded piece at a
-- time; returns how many rows.
-- for: worker, operator
create or replace function leasehold.purge_flows(p_history_days integer default 90, p_limit integer default 100) returns integer
language plpgsql as $$
declare
  v_old   timestamptz := leasehold.now() - make_interval(days => p_history_days);
  v_flows uuid[];
  v_n     integer;
begin
  v_flows := array(
    select flow_id from leasehold.flow where flow_id < leasehold.first_id_of_day(v_old) and finished_at < v_old
    order by flow_id limit p_limit for update skip locked
  );
  delete from leasehold.edge where flow_id = any(v_flows);
  delete from leasehold.step where flow_id = any(v_flows);
  delete from leasehold.event where job_id = any(v_flows);
  delete from leasehold.flow where flow_id = any(v_flows);
  delete from leasehold.signal where ctid = any(array(
    select ctid from leasehold.signal where signal_id < leasehold.first_id_of_day(v_old) limit p_limit for update skip locked
  ));
  get diagnostics v_n = row_count;
  return cardinality(v_flows) + v_n;
end
$$;
