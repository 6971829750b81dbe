-- Up to p_n jobs for a remote worker, from all its queues or from these. p_held are the tokens that it knows of: what it was
-- granted otherwise, in an answer that never arrived, goes back uncounted first. It never holds more than its slots,
-- whatever it asks for: limits of tenants rest on that.
-- for: api, operator
create or replace function leasehold.remote_claim(p_worker uuid, p_key text, p_queues text[], p_n integer, p_held bigint[])
returns setof leasehold.granted
language plpgsql as $$
declare
  v_worker leasehold.worker;
  v_leases bigint[];
  v_unseen bigint[];
begin
  -- One claim of a worker after the other, or the grants of one would look unseen to the next.
  perform pg_advisory_xact_lock(7511, hashtext(p_worker::text));
  v_worker := leasehold.require_worker(p_worker, p_key);
  if not coalesce(p_queues, v_worker.queues) <@ v_worker.queues then
    raise exception 'this worker is registered for the queues %', array_to_string(v_worker.queues, ', ') using errcode = 'LH400';
  end if;
  if v_worker.ended_at is not null then
    raise exception 'worker % is not registered, or was declared lost', p_worker using errcode = 'LH411';
  end if;
  v_leases := leasehold.list_leases(p_worker);
  v_unseen := array(select t from unnest(v_leases) t where t <> all(coalesce(p_held, '{}')));
  if v_unseen <> '{}' then
    perform leasehold.finish(v_unseen, array_fill('released'::text, array[cardinality(v_unseen)]), null, null, null);
  end if;
  return query
    select * from leasehold.exchange(
      p_worker, coalesce(p_queues, v_worker.queues),
      least(p_n, v_worker.slots - cardinality(v_leases) + cardinality(v_unseen)),
      '{}', null, null, null, null
    );
end
$$;
