-- Turn these locked ready rows of a lane into leases of a worker that begin at p_at, and tell what
-- they are for. A job that has expired ends here. p_bound: some have a group, a gate or a flow.
-- internal
-- settings: inherited
create or replace function leasehold.grant_leases(
  p_worker uuid, p_lane integer, p_queue text, p_rows tid[], p_at timestamptz, p_bound boolean
) returns setof leasehold.granted
language plpgsql as $$
declare
  v_ids     uuid[] := array(select job_id from leasehold.ready where ctid = any(p_rows) order by job_id);
  v_granted integer;
  v_ended   uuid[];
begin
  return query
    with gone as (
      delete from leasehold.ready r where r.ctid = any(p_rows)
      returning r.pass, r.job_id, r.tenant_id, r.attempt, r.max_attempts, r.events, r.bound
    ),
    granted as materialized (
      select
        leasehold.new_token() as token, g.*, j.kind, j.version, j.timeout_s, j.traceparent,
        coalesce(j.payload, leasehold.get_json(j.tenant_id, j.payload_ref)) as payload,
        coalesce(j.expires_at <= p_at, false) as expired
      -- The range of ids is known before the first row, so other days' partitions are not even
      -- opened. A lateral subquery with an offset, because in a join the planner would walk the
      -- whole range.
      from gone g cross join lateral (
        select * from leasehold.job j
        where j.job_id = g.job_id and j.job_id >= v_ids[1] and j.job_id <= v_ids[cardinality(v_ids)] offset 0
      ) j
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
      from granted where not expired
    ),
    ended as (
      insert into leasehold.outcome (job_id, tenant_id, state, finished_at, error, seq)
      select job_id, tenant_id, 'canceled', p_at,
        '{"type": "Expired", "message": "not started before expires_at"}', events + 1
      from granted where expired
    )
    select
      token, job_id, tenant_id, kind, p_queue, (attempt + 1)::smallint, max_attempts, payload, version,
      timeout_s, traceparent
    from granted where not expired order by pass;
  get diagnostics v_granted = row_count;
  if p_bound then
    perform leasehold.after_claim(v_ids);
    if v_granted < cardinality(p_rows) then
      v_ended := array(select job_id from leasehold.outcome where job_id = any(v_ids));
      perform leasehold.after_leave(v_ended, '{}');
      perform leasehold.after_finish(v_ended, '{}', '{}');
    end if;
  end if;
end
$$;
