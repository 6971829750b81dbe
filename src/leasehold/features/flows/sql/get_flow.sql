-- One flow of the current tenant, if wanted with how many of its steps are in which state: one that was skipped counts as such.
-- for: api, worker, readonly
create or replace function leasehold.get_flow(p_flow uuid, p_counted boolean default true) returns leasehold.flow_view
language plpgsql stable as $$
begin
  return leasehold.view_flow(leasehold.require_flow(p_flow), p_counted);
end
$$;
