-- Pause a queue (nothing of it is claimed) or let it go on. Logged.
create or replace function leasehold.pause_queue(p_queue text, p_paused boolean) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update leasehold.queue set paused = p_paused where queue = p_queue;
  if not found then
    raise exception 'there is no queue %', quote_literal(p_queue) using errcode = 'LH404', hint = 'leasehold queues list';
  end if;
  perform leasehold.log_action(null, case when p_paused then 'queue.pause' else 'queue.resume' end, p_queue);
end
$$;

revoke all on function leasehold.pause_queue(text, boolean) from public;
grant execute on function leasehold.pause_queue(text, boolean) to leasehold_operator;
