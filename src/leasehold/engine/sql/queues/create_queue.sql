-- Make a queue with its four lanes, unless it is there. Programs and workers do it for the queues their handlers name.
-- The only DDL at run time, with the partitions: two sequences for each lane.
-- for: api, worker, operator
create or replace function leasehold.create_queue(p_queue text) returns void
language plpgsql as $$
declare
  v_lane integer;
begin
  if exists (select from leasehold.queue where queue = p_queue) then
    return;
  end if;
  perform pg_advisory_xact_lock(7502);
  if exists (select from leasehold.queue where queue = p_queue) then
    return;
  end if;
  insert into leasehold.queue (queue, created_at) values (p_queue, leasehold.now());
  select coalesce(max(lane) + 1, 0) into v_lane from leasehold.lane;
  for v_priority in 0..3 loop
    execute format('create sequence leasehold.clock_%s minvalue 0', v_lane + v_priority);
    execute format('create sequence leasehold.floor_%s minvalue 0', v_lane + v_priority);
    perform setval(format('leasehold.clock_%s', v_lane + v_priority)::regclass, 1);
    perform setval(format('leasehold.floor_%s', v_lane + v_priority)::regclass, 0);
    insert into leasehold.lane (lane, queue, priority, clock, floor)
    values (
      v_lane + v_priority, p_queue, v_priority,
      format('leasehold.clock_%s', v_lane + v_priority)::regclass,
      format('leasehold.floor_%s', v_lane + v_priority)::regclass
    );
  end loop;
exception when check_violation then
  raise exception 'queue name % is not valid', quote_literal(p_queue)
    using errcode = 'LH400', hint = 'lower-case letters, digits, _ . - and at most 63 characters';
end
$$;
