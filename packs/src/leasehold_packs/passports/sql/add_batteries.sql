-- Passports for single batteries of a model; serial numbers that have one are left out.
-- for: worker
create or replace function pack.add_batteries(p_model uuid, p_serials text[])
returns table (serial text, passport_id uuid)
language sql
as $$
  insert into pack.passport (tenant_id, name, category, gtin, serial, model_id)
  select m.tenant_id, m.name, m.category, m.gtin, s, m.passport_id
  from pack.passport m
  cross join unnest(p_serials) s
  where m.passport_id = p_model
  on conflict do nothing
  returning serial, passport_id
$$;
