-- Ask for work: one job for each payload, all of one kind and with the same options, in the caller's transaction.
--
-- Options, else those of the kind, else the defaults below: queue, priority, run_at, delay_s, expires_at, max_attempts,
-- retry_base_s, retry_cap_s, timeout_s, version, key_window_s, tags, copied_from, traceparent, group,
-- group_limit, group_hold, group_gap_s, gate (which may be a template over the payload: see fill_gate), unique and
-- on_duplicate (see enqueue_unique). All of them and who may give which: known_options.
--
-- Keys make a job idempotent: the same key of the same tenant and kind within its window is the same job, returned with
-- created = false and no write; with another payload it is a conflict (LH409).
-- for: api, worker
create or replace function leasehold.enqueue(
  p_kind text, p_payloads jsonb[], p_options jsonb default '{}', p_keys text[] default null
) returns setof leasehold.enqueued
language plpgsql  -- not sql: its functions are planned anew at every call
as $$
declare
  v_jobs uuid[];
begin
  p_options := jsonb_strip_nulls(coalesce(p_options, '{}'));
  if p_keys is null and not p_options ? 'waits' then
    v_jobs := leasehold.enqueue_plainly(leasehold.current_tenant(), p_kind, p_payloads, p_options);
    if v_jobs is not null then
      return query select job_id, 'queued', true from unnest(v_jobs) job_id;
      return;
    end if;
  end if;
  if p_options ? 'waits' then  -- for steps of flows only: see make_steps
    raise exception 'there is no option ''waits''' using errcode = 'LH400', hint = 'start a flow';
  end if;
  if p_options ? 'unique' then
    return query select * from leasehold.make_unique(array[leasehold.current_tenant()], p_kind, p_payloads, p_options, p_keys);
    return;
  end if;
  return query select * from leasehold.insert_jobs(array[leasehold.current_tenant()], p_kind, p_payloads, p_options, p_keys);
end
$$;
