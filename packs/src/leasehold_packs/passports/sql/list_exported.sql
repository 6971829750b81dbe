-- Published versions with their passports: those of a model, or all.
-- for: worker
create or replace function pack.list_exported(
  p_states text[], p_passport uuid, p_after uuid, p_limit integer
)
returns table (
  version_id uuid, passport_id uuid, number integer, state text, issued_at timestamptz,
  receipt bytea, proof text, salt_key bytea, name text, gtin text, serial text
)
language sql stable
as $$
  select v.version_id, v.passport_id, v.number, v.state, v.issued_at, v.receipt, v.proof,
    v.salt_key, p.name, p.gtin, p.serial
  from pack.version v
  join pack.passport p using (tenant_id, passport_id)
  where v.state = any(p_states)
    and (p_passport is null or p.passport_id = p_passport or p.model_id = p_passport)
    and (p_after is null or v.version_id > p_after)
  order by v.version_id
  limit p_limit
$$;
