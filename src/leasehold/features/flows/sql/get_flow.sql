-- One flow of the current tenant, if wanted with how many of its steps are in which state: one that was skipped counts as such.
create or replace function leasehold.get_flow(p_flow uuid, p_counted boolean default true) returns leasehold.flow_view
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return leasehold.view_flow(leasehold.own_flow(p_flow), p_counted);
end
$$;

revoke all on function leasehold.get_flow(uuid, boolean) from public;
grant execute on function leasehold.get_flow(uuid, boolean) to leasehold_api, leasehold_worker, leasehold_readonly;
