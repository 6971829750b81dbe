-- End what holds a gate that all tenants share. Logged.
create or replace function leasehold.reset_shared_gate(p_gate text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform leasehold.calm_gate(leasehold.terms_of(null, p_gate));
end
$$;

revoke all on function leasehold.reset_shared_gate(text) from public;
grant execute on function leasehold.reset_shared_gate(text) to leasehold_operator;
