-- What attempts that have just ended say of their gates. An error that may pass is a failure. A success, or an error of the
-- job's own, is an answer of the far end, and is said only where somebody waits for it: while the gate is not closed. An
-- error with "gate_after_s" holds the gate for so long (at most a day), for everybody, and counts as neither. Whoever waits
-- asks again after an answer: it may have been the one that closes the breaker.
-- internal
create or replace function leasehold.tell_gates(p_jobs uuid[], p_tokens bigint[]) returns void
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_indexscan = on set enable_nestloop = on set jit = off
as $$
declare
  v_answered bigint[];
begin
  with said as (
    insert into leasehold.gate_word (gate_id, started_at, at, failed, held_until)
    select w.gate_id, w.started_at, w.finished_at, case when w.after_s is null then w.outcome = 'errored' end,
      case when w.after_s is not null then w.finished_at + make_interval(secs => least(greatest(w.after_s, 0), 86400)) end
    from (
      select
        t.gate_id, t.failures, a.started_at, a.finished_at, a.outcome,
        case when jsonb_typeof(a.error -> 'gate_after_s') = 'number' then (a.error ->> 'gate_after_s')::double precision end as after_s
      from leasehold.job j
      join lateral leasehold.attempts_of(j.job_id) a on a.token = any(p_tokens)
      cross join lateral leasehold.terms_of(j.tenant_id, j.gate) t
      where j.job_id = any(p_jobs) and j.gate is not null
    ) w
    where w.after_s is not null
      or w.failures is not null and (
        w.outcome = 'errored'
        or w.outcome in ('succeeded', 'failed') and (
          select n.state <> 'closed' from leasehold.gate_now n where n.gate_id = w.gate_id order by n.gate_id desc, n.v desc limit 1
        )
      )
    returning gate_id, failed
  )
  select array_agg(gate_id) filter (where not failed) into v_answered from said;
  if v_answered is not null then
    perform leasehold.hurry_gates(v_answered);
  end if;
end
$$;
