-- How many jobs of the current tenant a bulk action would apply to now; it stops counting at p_most.
create or replace function leasehold.count_to_act(p_action text, p_filter jsonb, p_most integer default 10000) returns integer
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rest jsonb := p_filter - 'error' - 'fingerprint';
begin
  perform leasehold.check_filter(v_rest, 1);
  return cardinality(leasehold.with_error(leasehold.match_jobs(
    leasehold.current_tenant(), v_rest, leasehold.states_to_act(p_action, p_filter), null, least(p_most, 10000)
  ), p_filter));
end
$$;

revoke all on function leasehold.count_to_act(text, jsonb, integer) from public;
grant execute on function leasehold.count_to_act(text, jsonb, integer) to leasehold_api, leasehold_worker;
