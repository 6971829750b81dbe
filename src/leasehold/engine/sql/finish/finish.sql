-- End attempts, whatever their end. Whoever deletes the lease row by its token decides: the tokens that come back were
-- accepted, the others were fenced (their lease had been taken) and nothing was written for them.
--
--   outcome    counts as attempt   the job is then
--   succeeded  yes                 succeeded
--   failed     yes                 failed: a permanent error
--   errored    yes                 scheduled after its back-off, or dead when its attempts are used up
--   lost       yes                 queued again, or dead when its attempts are used up
--   snoozed    no                  scheduled after the delay given
--   released   no                  queued again, or scheduled after the delay given
--   canceled   yes                 canceled
--
-- p_outcomes may be null: all succeeded. p_delays: seconds; null for errored means the job's own back-off. A job whose
-- cancel was requested ends canceled unless it succeeded or failed by itself.
-- for: worker
create or replace function leasehold.finish(
  p_tokens bigint[], p_outcomes text[], p_results jsonb[], p_errors jsonb[], p_delays double precision[]
) returns bigint[]
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_mergejoin = off
set enable_indexscan = on set enable_nestloop = on set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  c_outcomes constant text[] := array['succeeded', 'failed', 'errored', 'lost', 'snoozed', 'released', 'canceled'];
  v_ended    record;
begin
  if p_outcomes is null and p_results is null and p_errors is null and p_delays is null then
    v_ended := leasehold.end_succeeded_attempts(p_tokens);
  else
    if not p_outcomes <@ c_outcomes then
      raise exception 'an outcome is one of %', array_to_string(c_outcomes, ', ') using errcode = 'LH400';
    end if;
    if 315576000 < any(p_delays) then  -- not a number is above all numbers, and is refused too
      raise exception 'a delay is at most ten years' using errcode = 'LH400';
    end if;
    v_ended := leasehold.end_attempts(p_tokens, p_outcomes, p_results, p_errors, p_delays);
  end if;
  if v_ended.leave is not null then
    perform leasehold.after_leave(v_ended.leave, coalesce(v_ended.failed, '{}'));
  end if;
  if v_ended.bound is not null then
    perform leasehold.after_finish(coalesce(v_ended.leave, '{}'), v_ended.bound, v_ended.accepted);
  end if;
  return coalesce(v_ended.accepted, '{}');
end
$$;
