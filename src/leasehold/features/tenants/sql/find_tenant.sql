-- The id of a tenant given by name or by id; null is the only one there is: see only_tenant. It says nothing of a tenant but that
-- it exists.
create or replace function leasehold.find_tenant(p_name_or_id text) returns uuid
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
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

revoke all on function leasehold.find_tenant(text) from public;
grant execute on function leasehold.find_tenant(text) to leasehold_api, leasehold_worker, leasehold_operator, leasehold_readonly;
