-- The ids of all jobs that a bulk action would apply to now, of one tenant or, where none is given, of all.
create or replace function leasehold.jobs_to_act(p_tenant uuid, p_action text, p_filter jsonb) returns uuid[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_rest   jsonb := p_filter - 'error' - 'fingerprint';
  v_states text[] := leasehold.states_to_act(p_action, p_filter);
  v_jobs   uuid[];
begin
  perform leasehold.check_filter(v_rest, 1);
  v_jobs := leasehold.with_error(leasehold.match_jobs(p_tenant, v_rest, v_states, null, null), p_filter);
  if p_action = 'cancel' then
    return v_jobs;
  end if;
  -- A flow is retried as a whole, and keeps its steps.
  return array(
    select id from unnest(v_jobs) id where not exists (select from leasehold.step s where s.job_id = id)
  );
end
$$;

revoke all on function leasehold.jobs_to_act(uuid, text, jsonb) from public;
