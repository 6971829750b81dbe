-- The ids of all jobs that a bulk action would apply to now, of one tenant or, where none is given, of all.
-- internal
-- settings: no jit
create or replace function leasehold.list_matching_action(p_tenant uuid, p_action text, p_filter jsonb) returns uuid[]
language plpgsql stable as $$
declare
  v_rest   jsonb := p_filter - 'error' - 'fingerprint';
  v_states text[] := leasehold.actionable_states(p_action, p_filter);
  v_jobs   uuid[];
begin
  perform leasehold.check_filter(v_rest, 1);
  v_jobs := leasehold.filter_by_error(leasehold.match_jobs(p_tenant, v_rest, v_states, null, null), p_filter);
  if p_action = 'cancel' then
    return v_jobs;
  end if;
  -- A flow is retried as a whole, and keeps its steps.
  return array(
    select id from unnest(v_jobs) id where not exists (select from leasehold.step s where s.job_id = id)
  );
end
$$;
