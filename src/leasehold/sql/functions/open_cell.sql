-- Open a copy that is complete, under its new epoch. p_given is what hand_over told at the old place.
--
-- Sequences go on from there, so that no token comes twice and no clock goes back. Floors are hints about transactions of the
-- old place: they start at nothing. Transaction ids did not come with the rows: each row has that of the copy, and streams and
-- collect_job_events look at what comes after this moment; the old place has told what was before.
create or replace function leasehold.open_cell(p_epoch integer, p_given jsonb) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lane record;
begin
  update leasehold.here set state = 'open', epoch = p_epoch where state = 'arriving';
  if not found then
    raise exception 'this cell is not arriving' using errcode = 'LH409';
  end if;
  for v_lane in
    select * from jsonb_to_recordset(p_given -> 'lanes') l(lane integer, queue text, priority smallint, clock bigint) order by lane
  loop
    execute format('create sequence leasehold.clock_%s minvalue 0', v_lane.lane);
    execute format('create sequence leasehold.floor_%s minvalue 0', v_lane.lane);
    perform setval(format('leasehold.clock_%s', v_lane.lane)::regclass, v_lane.clock);
    perform setval(format('leasehold.floor_%s', v_lane.lane)::regclass, 0);
    insert into leasehold.lane (lane, queue, priority, clock, floor)
    values (
      v_lane.lane, v_lane.queue, v_lane.priority,
      format('leasehold.clock_%s', v_lane.lane)::regclass, format('leasehold.floor_%s', v_lane.lane)::regclass
    );
  end loop;
  perform setval(format('%I.%I', s.schema, s.name)::regclass, s.last)
  from jsonb_to_recordset(p_given -> 'sequences') s(schema text, name text, last bigint);
  update leasehold.collected set snapshot = pg_current_snapshot();
  perform leasehold.make_partitions();
  perform leasehold.log_action(null, 'cell.open', 'here', jsonb_build_object('epoch', p_epoch));
end
$$;

revoke all on function leasehold.open_cell(integer, jsonb) from public;
grant execute on function leasehold.open_cell(integer, jsonb) to leasehold_operator;
