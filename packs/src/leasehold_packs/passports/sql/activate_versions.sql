-- Versions take the place of the active ones, which are returned by passport.
-- for: api, worker
create or replace function pack.activate_versions(p_versions uuid[])
returns table (passport_id uuid, version_id uuid)
language plpgsql
as $$
#variable_conflict use_column
begin
  return query
    update pack.version set state = 'superseded'
    where state = 'active' and passport_id in (
      select v.passport_id from pack.version v where v.version_id = any(p_versions)
    )
    returning passport_id, version_id;
  update pack.version set state = 'active' where version_id = any(p_versions);
end
$$;
