-- Where a job is, by what the job itself says (see ready_at): one row, or none for one that is gone. The only place that
-- turns a table into a state. A job is in one place at a time, so the order of the looks decides only how soon it is found.
--
-- p_from and p_to: a range that the job's id is in. Where a caller knows it beforehand, no other day's
-- partition is opened. events is the number of the job's newest event; until, when what it waits for comes or is given up. Plain SQL without
-- settings, so that it is inlined into its caller.
-- internal
-- settings: none
create or replace function leasehold.whereabouts_at(
  p_job uuid, p_queue text, p_priority smallint, p_pass bigint, p_from uuid, p_to uuid
)
returns table (
  place text, state text, attempt smallint, max_attempts smallint, events integer, until timestamptz, started_at timestamptz,
  cancel_requested boolean
)
language sql stable as $$
  select w.* from (
    select 'outcome', o.state, null::smallint, null::smallint, o.seq, null::timestamptz, null::timestamptz, false
    from leasehold.outcome o where o.job_id = p_job and o.job_id >= p_from and o.job_id <= p_to
    union all
    select 'lease', 'running', l.attempt, l.max_attempts, l.events, null, l.started_at, l.cancel_requested
    from leasehold.lease l where l.job_id = p_job
    union all
    select 'ready', 'queued', r.attempt, r.max_attempts, r.events, null, null, false
    from leasehold.ready_at(p_job, p_queue, p_priority, p_pass) r
    union all
    select 'parked', 'queued', p.attempt, p.max_attempts, p.events, null, null, false
    from leasehold.parked p where p.job_id = p_job
    union all
    select 'deferred', 'scheduled', d.attempt, d.max_attempts, d.events, d.run_at, null, false
    from leasehold.deferred d where d.job_id = p_job
    union all
    select 'blocked', 'blocked', b.attempt, b.max_attempts, b.events, null, null, false
    from leasehold.blocked b where b.job_id = p_job
    union all
    select 'waiting', 'blocked', w.attempt, w.max_attempts, w.events, w.until, null, false
    from leasehold.waiting w where w.job_id = p_job
    union all
    select 'gated', 'blocked', g.attempt, g.max_attempts, g.events, null, null, false
    from leasehold.gated g where g.job_id = p_job
    limit 1
  ) w
$$;
