-- End attempts of a remote worker, as finish does, and say of each token what became of it:
--
--   accepted  the attempt has ended so
--   recorded  it had ended so already: this report came before, and only its answer was lost
--   lost      the lease had been taken, or never was this worker's; nothing was written
-- for: api, operator
create or replace function leasehold.remote_finish(
  p_worker uuid, p_key text, p_jobs uuid[], p_tokens bigint[], p_outcomes text[], p_results jsonb[], p_errors jsonb[],
  p_delays double precision[]
) returns table (token bigint, verdict text)
language plpgsql
set enable_seqscan = off set enable_indexscan = on set jit = off
as $$
#variable_conflict use_column
declare
  v_tokens   bigint[];
  v_outcomes text[];
  v_results  jsonb[];
  v_errors   jsonb[];
  v_delays   double precision[];
  v_accepted bigint[] := '{}';
begin
  perform leasehold.require_worker(p_worker, p_key);
  if 'lost' = any(p_outcomes) then
    raise exception 'a worker cannot say of itself that it lost a lease' using errcode = 'LH400';
  end if;
  select array_agg(g.token), array_agg(g.outcome), array_agg(g.result), array_agg(g.error), array_agg(g.delay_s)
  into v_tokens, v_outcomes, v_results, v_errors, v_delays
  from unnest(p_tokens, p_outcomes, p_results, p_errors, p_delays) g(token, outcome, result, error, delay_s)
  where exists (select from leasehold.lease l where l.token = g.token and l.worker_id = p_worker);
  if v_tokens is not null then
    v_accepted := leasehold.finish(v_tokens, v_outcomes, v_results, v_errors, v_delays);
  end if;
  return query
    select g.token, case
      when g.token = any(v_accepted) then 'accepted'
      when exists (
        select from leasehold.attempt a
        where a.job_id = g.job_id and a.token = g.token and a.worker_id = p_worker and a.outcome = g.outcome
      ) then 'recorded'
      else 'lost'
    end
    from unnest(p_jobs, p_tokens, p_outcomes) g(job_id, token, outcome);
end
$$;
