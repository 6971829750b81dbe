-- A program that asks for jobs says which queues and kinds it knows (an object: kind → options), before any worker has.
-- What the database knows of a kind already stays: see register_worker.
-- for: api, worker, operator
create or replace function leasehold.register_kinds(p_queues text[], p_kinds jsonb) returns void
language plpgsql as $$
declare
  v_queue text;
begin
  foreach v_queue in array p_queues loop
    perform leasehold.create_queue(v_queue);
  end loop;
  perform leasehold.put_kinds(p_kinds, false);
end
$$;
