-- Remove what has outlived its use, a bounded piece at a time; returns how many rows. Results go before the history of
-- their jobs; keys and answers when their time is over; selections that no job began after an hour;
-- gates after three idle days; ended workers, jobs of the default partition, unique keys, bodies and
-- audit with the history. What belongs to a feature alone is removed by its own maintenance.
-- for: worker, operator
-- settings: no jit
create or replace function leasehold.purge(p_history_days integer default 90, p_result_days integer default 7, p_limit integer default 5000)
returns integer
language plpgsql as $$
declare
  v_now   timestamptz := leasehold.now();
  v_old   timestamptz := v_now - make_interval(days => p_history_days);
  v_n     integer;
  v_total integer := 0;
  v_jobs  uuid[];
begin
  delete from leasehold.idempotency where (tenant_id, kind, key) in (
    select tenant_id, kind, key from leasehold.idempotency where expires_at < v_now order by expires_at limit p_limit for update skip locked
  );
  get diagnostics v_n = row_count; v_total := v_total + v_n;
  delete from leasehold.request where ctid = any(array(select ctid from leasehold.request where expires_at < v_now limit p_limit));
  get diagnostics v_n = row_count; v_total := v_total + v_n;
  delete from leasehold.selection
  where selected_at < v_now - interval '1 hour' and (job_id is null or selected_at < v_old);
  get diagnostics v_n = row_count; v_total := v_total + v_n;

  delete from leasehold.gate_now where ctid = any(array(  -- gates that nobody has passed for long
    select ctid from leasehold.gate_now where last_at < v_now - interval '3 days' and state = 'closed' limit p_limit for update skip locked
  ));
  get diagnostics v_n = row_count; v_total := v_total + v_n;
  delete from leasehold.gate_word where ctid = any(array(
    select ctid from leasehold.gate_word
    where at < v_now - interval '3 days' and coalesce(held_until < v_now, true) limit p_limit for update skip locked
  ));
  get diagnostics v_n = row_count; v_total := v_total + v_n;

  v_total := v_total + leasehold.purge_results(p_result_days, p_limit);

  v_jobs := array(
    select d.job_id from leasehold.job_default d
    where d.job_id < leasehold.first_id_of_day(v_old) and exists (select from leasehold.outcome o where o.job_id = d.job_id and o.finished_at < v_old)
    limit p_limit
  );
  delete from leasehold.event where job_id = any(v_jobs);
  delete from leasehold.attempt_row where job_id = any(v_jobs);
  delete from leasehold.outcome where job_id = any(v_jobs);
  delete from leasehold.job where job_id = any(v_jobs);
  v_total := v_total + cardinality(v_jobs);

  delete from leasehold.unique_job where ctid = any(array(
    select u.ctid from leasehold.unique_job u
    where u.job_id < leasehold.first_id_of_day(v_old) and not exists (
      select from leasehold.job j where j.job_id = u.job_id and not exists (select from leasehold.outcome o where o.job_id = j.job_id)
    )
    limit p_limit for update skip locked
  ));
  get diagnostics v_n = row_count; v_total := v_total + v_n;
  delete from leasehold.worker where worker_id in (
    select worker_id from leasehold.worker w where ended_at < v_old limit p_limit for update skip locked
  );
  get diagnostics v_n = row_count; v_total := v_total + v_n;
  delete from leasehold.audit where audit_id in (
    select audit_id from leasehold.audit where audit_id < leasehold.first_id_of_day(v_old) order by audit_id limit p_limit for update skip locked
  );
  get diagnostics v_n = row_count; v_total := v_total + v_n;
  delete from leasehold.stat where minute < v_old - interval '1 year';
  get diagnostics v_n = row_count; v_total := v_total + v_n;
  return v_total + leasehold.purge_blobs(v_old, p_limit);
end
$$;
