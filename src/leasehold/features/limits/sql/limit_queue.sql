-- Let so many jobs of a queue run at once; null: as many as there are workers for. Logged.
-- for: operator
create or replace function leasehold.limit_queue(p_queue text, p_max_running integer) returns void
language plpgsql as $$
begin
  update leasehold.queue set max_running = p_max_running where queue = p_queue;
  if not found then
    raise exception 'there is no queue %', quote_literal(p_queue) using errcode = 'LH404', hint = 'leasehold queues list';
  end if;
  perform leasehold.log_action(null, 'queue.limit', p_queue, jsonb_build_object('max_running', p_max_running));
exception when check_violation then
  raise exception 'max_running is between 1 and 1000000'
    using errcode = 'LH400', hint = format('leasehold queues pause %s', p_queue);
end
$$;
