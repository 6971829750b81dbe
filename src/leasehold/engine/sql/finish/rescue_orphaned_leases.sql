-- The slow pass: leases past their deadline (a handler that hangs in a worker that beats), and leases whose worker is
-- missing or ended (a claim that committed while its worker was being declared lost).
-- for: worker
-- settings: no jit
create or replace function leasehold.rescue_orphaned_leases(p_limit integer) returns integer
language plpgsql as $$
declare
  v_now    timestamptz := leasehold.now();
  v_tokens bigint[];
begin
  v_tokens := array(
    select l.token
    from leasehold.lease l left join leasehold.worker w on w.worker_id = l.worker_id
    where l.deadline < v_now or w.worker_id is null or w.ended_at is not null
    order by l.token
    limit p_limit
    for update of l skip locked
  );
  return leasehold.lose(v_tokens);
end
$$;
