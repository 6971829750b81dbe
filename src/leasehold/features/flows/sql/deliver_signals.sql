-- Bring kept signals and the steps that wait for them (p_jobs; null: all) together: each signal ends one step, the oldest
-- first. Returns those that have ended. Who waits and who sends may miss each other; advance_flows looks again.
-- internal
-- settings: index
create or replace function leasehold.deliver_signals(p_jobs uuid[]) returns uuid[]
language plpgsql as $$
declare
  v_wanted record;
  v_signal leasehold.signal;
  v_step   leasehold.waiting;
  v_ended  uuid[] := '{}';
begin
  for v_wanted in
    select distinct w.tenant_id, w.signal, w.key from leasehold.waiting w
    where w.what = 'signal' and (p_jobs is null or w.job_id = any(p_jobs))
      and exists (select from leasehold.signal s where (s.tenant_id, s.name, s.key) = (w.tenant_id, w.signal, w.key))
  loop
    -- One at a time: two would give a step to two signals. Whoever holds the lock does it.
    continue when not pg_try_advisory_xact_lock(7531, hashtext(v_wanted.tenant_id::text || v_wanted.signal || v_wanted.key));
    loop
      select * into v_signal from leasehold.signal s
      where (s.tenant_id, s.name, s.key) = (v_wanted.tenant_id, v_wanted.signal, v_wanted.key)
      order by s.signal_id limit 1 for update skip locked;
      exit when not found;
      delete from leasehold.waiting where job_id = (
        select w.job_id from leasehold.waiting w
        where w.what = 'signal' and (w.tenant_id, w.signal, w.key) = (v_wanted.tenant_id, v_wanted.signal, v_wanted.key)
        order by w.job_id limit 1 for update skip locked
      ) returning * into v_step;
      exit when not found;
      delete from leasehold.signal where signal_id = v_signal.signal_id;
      insert into leasehold.outcome (job_id, tenant_id, state, finished_at, result, seq)
      values (v_step.job_id, v_step.tenant_id, 'succeeded', leasehold.now(), v_signal.payload, v_step.events + 1);
      v_ended := v_ended || v_step.job_id;
    end loop;
  end loop;
  return v_ended;
end
$$;
