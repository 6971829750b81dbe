-- The options of jobs of a kind: those that the caller gives, else those of the kind's handler. A kind that
-- no worker has brought may have any name of the right form.
-- internal
create or replace function leasehold.options_of(p_kind text, p_options jsonb) returns jsonb
language plpgsql stable as $$
declare
  v_options jsonb;
begin
  select options || p_options into v_options from leasehold.kind where kind = p_kind;
  if found then
    return v_options;
  end if;
  if leasehold.is_kind(p_kind) is not true then
    raise exception 'kind % is not of the form pack.verb', quote_nullable(p_kind) using errcode = 'LH400';
  end if;
  return p_options;
end
$$;
