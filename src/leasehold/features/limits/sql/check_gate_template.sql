-- Refuse what cannot be the option gate: a gate, or a template that fill_gate makes one of.
-- internal
create or replace function leasehold.check_gate_template(p_gate jsonb) returns void
language plpgsql immutable as $$
declare
  v_gate text := p_gate #>> '{}';
begin
  if jsonb_typeof(p_gate) <> 'string' or v_gate !~ '[{}]' then
    perform leasehold.check_gate(p_gate);
  elsif v_gate !~ '^([^{}[:cntrl:]]|\{[^{}|.[:cntrl:]]+(\.[^{}|.[:cntrl:]]+)*(\|host)?\})+$' or length(v_gate) > 200
    or v_gate like '%:' or v_gate like 'group:%'
  then
    raise exception 'a gate cannot be made by the template %', left(p_gate::text, 300)
      using errcode = 'LH400', hint = 'members of the payload in braces, as in stripe:{customer}, {order.id} or'
        ' host:{url|host}; at most 200 characters; not ending in a colon, not beginning with group:';
  end if;
end
$$;
