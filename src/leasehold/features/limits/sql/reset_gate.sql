-- Close the breaker of a gate of the current tenant and end what holds it. The rate goes on from where it was. Logged.
create or replace function leasehold.reset_gate(p_gate text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform leasehold.calm_gate(leasehold.own_gate(p_gate));
end
$$;

revoke all on function leasehold.reset_gate(text) from public;
grant execute on function leasehold.reset_gate(text) to leasehold_api, leasehold_worker, leasehold_operator;
