-- A tenant's id, and the cell that it lives in; null is home. Where no tenant is named it is the only one: see only_tenant. An id that nobody has is taken to be at home: whoever uses it
-- there is told.
create or replace function leasehold.locate_tenant(p_name_or_id text, out tenant_id uuid, out cell text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  select r.tenant_id, r.cell into tenant_id, cell
  from leasehold.resident r where r.name = p_name_or_id or r.tenant_id::text = lower(p_name_or_id);
  if found then
    return;
  end if;
  if p_name_or_id ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
    tenant_id := p_name_or_id::uuid;
  else
    tenant_id := leasehold.find_tenant(p_name_or_id);
  end if;
end
$$;

revoke all on function leasehold.locate_tenant(text) from public;
grant execute on function leasehold.locate_tenant(text) to leasehold_api, leasehold_worker, leasehold_operator, leasehold_readonly;
