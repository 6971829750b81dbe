-- A program that asks for jobs says which queues and kinds it knows (an object: kind → options), before any worker has.
-- What the database knows of a kind already stays: see register_worker.
create or replace function leasehold.introduce_kinds(p_queues text[], p_kinds jsonb) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_queue text;
begin
  foreach v_queue in array p_queues loop
    perform leasehold.create_queue(v_queue);
  end loop;
  perform leasehold.put_kinds(p_kinds, false);
end
$$;

revoke all on function leasehold.introduce_kinds(text[], jsonb) from public;
grant execute on function leasehold.introduce_kinds(text[], jsonb) to leasehold_api, leasehold_worker, leasehold_operator;
