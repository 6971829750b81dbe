-- Close the breaker of a gate of the current tenant and end what holds it. The rate goes on from where it was. Logged.
-- for: api, worker, operator
create or replace function leasehold.reset_gate(p_gate text) returns void
language plpgsql as $$
begin
  perform leasehold.calm_gate(leasehold.own_gate(p_gate));
end
$$;
