-- Set a rule that holds for all tenants together; null removes it. It has no breaker: one tenant's failures would stop
-- another. See write_gate.
-- for: operator
create or replace function leasehold.put_shared_gate(p_gate text, p_rule jsonb) returns void
language plpgsql as $$
begin
  if p_rule ->> 'failures' is not null then
    raise exception 'a gate that tenants share has no breaker: one of them could stop the others' using errcode = 'LH400';
  end if;
  perform leasehold.write_gate(null, p_gate, p_rule);
end
$$;
