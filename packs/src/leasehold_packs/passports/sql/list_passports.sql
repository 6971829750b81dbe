-- Passports, or those of one model, with the state of the active or newest version and how complete
-- each is.
-- for: api, worker
create or replace function pack.list_passports(p_model uuid, p_after uuid, p_limit integer)
returns table (
  passport_id uuid, name text, category text, gtin text, serial text, model_id uuid,
  created_at timestamptz, state text, share smallint
)
language sql stable
as $$
  select p.passport_id, p.name, p.category, p.gtin, p.serial, p.model_id, p.created_at,
    (
      select v.state from pack.version v where v.passport_id = p.passport_id
      order by v.state = 'active' desc, v.number desc
      limit 1
    ),
    (
      select c.share from pack.completeness c where c.passport_id in (p.passport_id, p.model_id)
      order by c.passport_id = p.passport_id desc
      limit 1
    )
  from pack.passport p
  where (p_model is null or p.model_id = p_model) and (p_after is null or p.passport_id > p_after)
  order by p.passport_id
  limit p_limit
$$;
