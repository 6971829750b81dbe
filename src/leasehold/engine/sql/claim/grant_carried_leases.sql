-- What grant_leases does, for rows that carry a copy of all that a worker is given, so that no job
-- is read: most do, and such a claim costs two thirds. They have no group, no gate and no time to
-- expire.
-- internal
-- settings: inherited
create or replace function leasehold.grant_carried_leases(
  p_worker uuid, p_lane integer, p_queue text, p_rows tid[], p_at timestamptz
) returns setof leasehold.granted
language plpgsql as $$
begin
  return query
    with granted as (
      delete from leasehold.ready r where r.ctid = any(p_rows)
      returning
        leasehold.new_token() as token, r.pass, r.job_id, r.tenant_id, r.attempt, r.max_attempts,
        r.events, r.bound, r.kind, r.payload, r.version, r.timeout_s, r.traceparent
    ),
    leased as (
      insert into leasehold.lease (
        token, job_id, tenant_id, lane, worker_id, attempt, max_attempts, events, started_seq,
        started_at, deadline, bound, xid
      )
      select
        token, job_id, tenant_id, p_lane, p_worker, attempt + 1, max_attempts, events + 1, events + 1,
        p_at, p_at + make_interval(secs => timeout_s + 30), bound,
        (select pg_current_xact_id()::text::bigint)
      from granted
    )
    select
      token, job_id, tenant_id, kind, p_queue, (attempt + 1)::smallint, max_attempts, payload, version,
      timeout_s, traceparent
    from granted order by pass;
end
$$;
