-- The gates that a job must pass to start: its own, if that has a rule or is held, and the gap of its group.
-- internal
create or replace function leasehold.gates_of(p_job leasehold.job) returns setof leasehold.gate_terms
language sql stable as $$
  select t.* from leasehold.terms_of(p_job.tenant_id, p_job.gate) t
  where p_job.gate is not null and (
    t.every is not null or t.failures is not null or exists (select from leasehold.gate_word w where w.gate_id = t.gate_id)
  )
  union all
  select
    leasehold.gate_id(p_job.tenant_id, 'group:' || p_job.group_key), p_job.tenant_id, 'group:' || p_job.group_key,
    null, null, null, make_interval(secs => p_job.group_gap_s), 1, null, null, null, null, null
  where p_job.group_gap_s is not null
$$;
