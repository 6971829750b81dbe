-- What is wrong with the arguments of an enqueue, in a sentence; null when nothing is.
-- internal
-- settings: inherited
create or replace function leasehold.check_enqueue(p_tenants uuid[], p_payloads jsonb[], p_keys text[]) returns text
language plpgsql stable as $$
begin
  return case
    when p_payloads is null or cardinality(p_payloads) not between 1 and 10000 then
      format('enqueue takes 1 to 10000 payloads, not %s', coalesce(cardinality(p_payloads), 0))
    when array_position(p_payloads, null) is not null then
      format('payload %s is null; an empty one is {}', array_position(p_payloads, null))
    when cardinality(p_tenants) <> 1 and cardinality(p_tenants) <> cardinality(p_payloads) then
      format('%s tenants for %s payloads', cardinality(p_tenants), cardinality(p_payloads))
    when p_keys is not null then leasehold.check_keys(p_tenants, p_payloads, p_keys)
  end;
end
$$;
