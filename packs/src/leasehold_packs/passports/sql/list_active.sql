-- Passports that have an active version: those of a model, or all.
-- for: worker
create or replace function pack.list_active(p_passport uuid, p_after uuid, p_limit integer)
returns setof uuid
language sql stable
as $$
  select v.passport_id
  from pack.version v
  join pack.passport p using (tenant_id, passport_id)
  where v.state = 'active'
    and (p_passport is null or p.model_id = p_passport or p.passport_id = p_passport)
    and (p_after is null or v.passport_id > p_after)
  order by v.passport_id
  limit p_limit
$$;
