-- A passport; null if there is one with this GTIN and serial number.
-- for: api, worker
create or replace function pack.add_passport(
  p_tenant uuid, p_name text, p_category text, p_gtin text, p_serial text, p_model uuid
) returns uuid
language sql
as $$
  insert into pack.passport (tenant_id, name, category, gtin, serial, model_id)
  values (p_tenant, p_name, p_category, p_gtin, p_serial, p_model)
  on conflict do nothing
  returning passport_id
$$;
