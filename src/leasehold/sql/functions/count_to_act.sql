-- How many jobs of the current tenant a bulk action would apply to now; it stops counting at p_most.
create or replace function leasehold.count_to_act(p_action text, p_filter jsonb, p_most integer default 10000) returns integer
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform leasehold.check_filter(p_filter, 1);
  return cardinality(leasehold.match_jobs(
    leasehold.current_tenant(), p_filter, leasehold.states_to_act(p_action, p_filter), null, least(p_most, 10000)
  ));
end
$$;

revoke all on function leasehold.count_to_act(text, jsonb, integer) from public;
grant execute on function leasehold.count_to_act(text, jsonb, integer) to leasehold_api, leasehold_worker;
