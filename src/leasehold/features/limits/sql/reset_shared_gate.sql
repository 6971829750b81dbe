-- End what holds a gate that all tenants share. Logged.
-- for: operator
create or replace function leasehold.reset_shared_gate(p_gate text) returns void
language plpgsql as $$
begin
  perform leasehold.calm_gate(leasehold.terms_of(null, p_gate));
end
$$;
