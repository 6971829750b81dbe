-- Refuse what cannot be a job's gate.
-- internal
create or replace function leasehold.check_gate(p_gate jsonb) returns void
language plpgsql immutable as $$
declare
  v_gate text := p_gate #>> '{}';
begin
  if jsonb_typeof(p_gate) <> 'string' or v_gate !~ '^[^[:cntrl:]]{1,200}$' or v_gate like '%:' or v_gate like 'group:%' then
    raise exception 'a gate cannot be called %', left(p_gate::text, 300)
      using errcode = 'LH400', hint = '1 to 200 characters, as in host:example.com; not ending in a colon, not beginning with group:';
  end if;
end
$$;
