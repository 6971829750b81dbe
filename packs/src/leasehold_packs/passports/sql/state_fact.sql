-- What a person states takes the place of the fact at this pointer, and names it.
-- for: api, worker
create or replace function pack.state_fact(
  p_tenant uuid, p_passport uuid, p_pointer text, p_type text, p_text text, p_unit text,
  p_author text
) returns bigint
language plpgsql
as $$
declare
  v_before pack.fact;
  v_made   bigint;
begin
  update pack.fact set state = 'superseded'
  where passport_id = p_passport and pointer = p_pointer and state in ('ok', 'error')
  returning * into v_before;
  insert into pack.fact
    (tenant_id, passport_id, pointer, type, text, unit, document, ref, state, author, supersedes)
  values (
    p_tenant, p_passport, p_pointer, p_type, p_text, p_unit, coalesce(v_before.document, ''),
    case when v_before.document <> '' then v_before.ref || ' corrected by ' else 'stated by ' end
      || p_author,
    'ok', p_author, v_before.fact_id
  )
  returning fact_id into v_made;
  return v_made;
end
$$;
