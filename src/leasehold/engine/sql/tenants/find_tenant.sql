-- The id of a tenant given by name or by id; null is the only one there is: see only_tenant. It says nothing of a tenant but that
-- it exists.
-- for: api, worker, operator, readonly
create or replace function leasehold.find_tenant(p_name_or_id text) returns uuid
language plpgsql stable as $$
declare
  v_tenant uuid;
begin
  if p_name_or_id is null then
    return leasehold.only_tenant();
  end if;
  select tenant_id into v_tenant from leasehold.tenant where name = p_name_or_id or tenant_id::text = lower(p_name_or_id);
  if v_tenant is null then
    raise exception 'there is no tenant %', quote_literal(p_name_or_id)
      using errcode = 'LH404', hint = format('leasehold tenants create %s', p_name_or_id);
  end if;
  return v_tenant;
end
$$;
