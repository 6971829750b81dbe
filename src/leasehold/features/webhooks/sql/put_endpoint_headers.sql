-- Further headers for an endpoint of the current tenant: their names, and names with values in one sealed secret.
-- for: api, operator
create or replace function leasehold.put_endpoint_headers(
  p_endpoint uuid, p_headers text[], p_key_id text, p_wrapped bytea, p_box bytea
) returns void
language plpgsql as $$
declare
  v_endpoint leasehold.endpoint := leasehold.require_endpoint(p_endpoint);
begin
  update leasehold.endpoint set headers = p_headers where endpoint_id = p_endpoint;
  insert into leasehold.secret as s (tenant_id, name, owner_id, key_id, wrapped, box, created_at, updated_at)
  values (
    v_endpoint.tenant_id, format('endpoint/%s/headers', p_endpoint), p_endpoint, p_key_id, p_wrapped, p_box,
    leasehold.now(), leasehold.now()
  )
  on conflict (tenant_id, name) do update
  set key_id = excluded.key_id, wrapped = excluded.wrapped, box = excluded.box, updated_at = excluded.updated_at;
end
$$;
