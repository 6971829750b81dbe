-- Pause a queue (nothing of it is claimed) or let it go on. Logged.
-- for: operator
create or replace function leasehold.pause_queue(p_queue text, p_paused boolean) returns void
language plpgsql as $$
begin
  update leasehold.queue set paused = p_paused where queue = p_queue;
  if not found then
    raise exception 'there is no queue %', quote_literal(p_queue) using errcode = 'LH404', hint = 'leasehold queues list';
  end if;
  perform leasehold.log_action(null, case when p_paused then 'queue.pause' else 'queue.resume' end, p_queue);
end
$$;
