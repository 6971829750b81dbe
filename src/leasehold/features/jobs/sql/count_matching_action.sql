-- How many jobs of the current tenant a bulk action would apply to now; with p_most it says no more than that.
-- for: api, worker
create or replace function leasehold.count_matching_action(p_action text, p_filter jsonb, p_most integer default null) returns integer
language plpgsql stable as $$
begin
  return least(cardinality(leasehold.list_matching_action(leasehold.current_tenant(), p_action, p_filter)), p_most);
end
$$;
