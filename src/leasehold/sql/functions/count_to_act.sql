-- How many jobs of the current tenant a bulk action would apply to now; with p_most it says no more than that.
create or replace function leasehold.count_to_act(p_action text, p_filter jsonb, p_most integer default null) returns integer
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return least(cardinality(leasehold.jobs_to_act(leasehold.current_tenant(), p_action, p_filter)), p_most);
end
$$;

revoke all on function leasehold.count_to_act(text, jsonb, integer) from public;
grant execute on function leasehold.count_to_act(text, jsonb, integer) to leasehold_api, leasehold_worker;
