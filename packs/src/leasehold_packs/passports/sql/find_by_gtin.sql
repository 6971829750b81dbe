-- The passport that a GS1 Digital Link on this host means: of the tenant that the host belongs to, where a number is unique.
-- for: api
create or replace function pack.find_by_gtin(p_host text, p_gtin text, p_serial text) returns uuid
language sql stable security definer
as $$
  select p.passport_id
  from pack.issuer i
  join pack.passport p on p.tenant_id = i.tenant_id
  where i.host = p_host and i.host_proven_at is not null
    and p.gtin = p_gtin and p.serial = p_serial
    and exists (select from pack.version v where v.tenant_id = p.tenant_id and v.passport_id = p.passport_id and v.link is not null)
$$;
