-- Refuse a filter that is unknown, so that a typing error does not list everything.
-- internal
create or replace function leasehold.check_filter(p_filter jsonb, p_limit integer) returns void
language plpgsql stable as $$
declare
  c_known  constant text[] := array['state', 'kind', 'queue', 'tag', 'key', 'created_after', 'created_before'];
  v_states constant text[] := leasehold.states();
  v_name   text;
begin
  if p_limit is null or p_limit not between 1 and 1000 then
    raise exception 'limit % is not between 1 and 1000', p_limit using errcode = 'LH400';
  end if;
  select f into v_name from jsonb_object_keys(p_filter) f where f <> all(c_known) limit 1;
  if found then
    raise exception 'there is no filter %', quote_literal(v_name)
      using errcode = 'LH400', hint = 'known filters: ' || array_to_string(c_known, ', ');
  end if;
  if p_filter ->> 'state' <> all(v_states) then
    raise exception 'there is no state %', quote_literal(p_filter ->> 'state')
      using errcode = 'LH400', hint = 'states: ' || array_to_string(v_states, ', ');
  end if;
end
$$;
