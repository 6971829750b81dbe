-- The bytes with this digest, of the current tenant. Another tenant's are as absent as those that never were.
-- for: api, worker, readonly
create or replace function leasehold.get_body(p_sha256 bytea) returns table (bytes bytea, media_type text, at timestamptz)
language plpgsql stable as $$
#variable_conflict use_column
declare
  v_tenant uuid := leasehold.current_tenant();
begin
  return query select bytes, media_type, at from leasehold.body
  where tenant_id = v_tenant and sha256 = p_sha256 and coding is null and object_key is null;
  if not found then
    if exists (select from leasehold.body where tenant_id = v_tenant and sha256 = p_sha256) then
      raise exception 'the body % is not kept as it is', encode(p_sha256, 'hex') using errcode = 'LH409', hint = 'use read_body';
    end if;
    raise exception 'there is no body %', encode(p_sha256, 'hex') using errcode = 'LH404';
  end if;
end
$$;
