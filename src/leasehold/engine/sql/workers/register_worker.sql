-- A worker introduces itself, its queues and its kinds (an object: kind → options), and gets its id. Two workers may
-- have one name; leases belong to the id.
--
-- The options of a worker that has just started replace those that are known: of two releases, the one that was started
-- last is the newer. A worker that comes back after it was declared lost gives null for the options of its kinds: it is
-- no newer than it was.
-- for: worker
create or replace function leasehold.register_worker(
  p_name text, p_version text, p_queues text[], p_kinds jsonb, p_slots integer, p_lease_s real
) returns uuid
language plpgsql as $$
declare
  v_now    timestamptz := leasehold.now();
  v_worker uuid := leasehold.new_id(leasehold.micros(v_now));
  v_queue  text;
begin
  foreach v_queue in array p_queues loop
    perform leasehold.create_queue(v_queue);
  end loop;
  perform leasehold.put_kinds(leasehold.given_options(p_kinds), true);
  insert into leasehold.worker (worker_id, name, version, queues, kinds, slots, lease_s, started_at, beat_at)
  values (v_worker, p_name, p_version, p_queues, array(select jsonb_object_keys(p_kinds) order by 1), p_slots, p_lease_s, v_now, v_now);
  return v_worker;
end
$$;
