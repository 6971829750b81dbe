-- Whether each of these payloads fits into the row of its job. A larger one is kept beside it: see put_json.
-- internal
-- settings: inherited
create or replace function leasehold.fit_into_rows(p_payloads jsonb[]) returns boolean
language plpgsql immutable as $$
begin
  if pg_column_size(p_payloads) <= 65536 then
    return true;  -- the usual case, without a query
  end if;
  return not exists (select from unnest(p_payloads) p where pg_column_size(p) > 65536);
end
$$;
