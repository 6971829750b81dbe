-- Keep a large JSON value as a body and return its digest.
-- internal
create or replace function leasehold.put_json(p_tenant uuid, p_value jsonb) returns bytea
language plpgsql as $$
declare
  c_limit constant integer := 16 * 1024 * 1024;
  v_bytes bytea := convert_to(p_value::text, 'UTF8');
begin
  if length(v_bytes) > c_limit then
    raise exception '% bytes of JSON are more than the % that fit', length(v_bytes), c_limit
      using errcode = 'LH413', hint = 'store it elsewhere and send a reference';
  end if;
  return leasehold.insert_blob(p_tenant, v_bytes, 'application/json');
end
$$;
