-- The options of jobs of a kind: those that the caller gives, else those of the kind's handler. A null is not given.
-- internal
create or replace function leasehold.options_of(p_kind text, p_options jsonb) returns jsonb
language plpgsql stable as $$
declare
  v_options jsonb;
begin
  select options into v_options from leasehold.kind where kind = p_kind;
  return coalesce(v_options, '{}') || jsonb_strip_nulls(p_options);
end
$$;
