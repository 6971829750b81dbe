-- Whether a payload has these texts at these paths ({"order.id": "4711"}); without any, it has.
-- internal
create or replace function leasehold.has_filter_values(p_payload jsonb, p_values jsonb) returns boolean
language sql immutable as $$
  select p_values is null or not exists (
    select from jsonb_each_text(p_values) v where p_payload #>> string_to_array(v.key, '.') is distinct from v.value
  )
$$;
