-- The members of this object that are given: not null. A null within a value, as the option meta may have, stays.
-- internal
create or replace function leasehold.given_options(p_options jsonb) returns jsonb
language plpgsql immutable as $$
begin
  if p_options is null or p_options = '{}' then
    return '{}';
  end if;
  return (
    select coalesce(jsonb_object_agg(option, value), '{}')
    from jsonb_each(p_options) g(option, value) where jsonb_typeof(value) <> 'null'
  );
end
$$;
