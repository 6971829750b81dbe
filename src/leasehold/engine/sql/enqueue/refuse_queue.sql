-- Say that there is no such queue, and which there are.
-- internal
create or replace function leasehold.refuse_queue(p_queue text) returns void
language plpgsql stable as $$
begin
  raise exception 'there is no queue %', quote_literal(p_queue)
    using errcode = 'LH404', hint = format(
      'known queues: %s; workers make those of their handlers, or: leasehold queues create %s',
      (select string_agg(queue, ', ' order by queue) from leasehold.queue), p_queue
    );
end
$$;
