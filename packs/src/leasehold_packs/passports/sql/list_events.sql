-- What happened to a passport, or to one of its versions, oldest first.
-- for: api, worker
create or replace function pack.list_events(p_passport uuid, p_version uuid)
returns table (event_id uuid, version_id uuid, type text, at timestamptz)
language sql stable
as $$
  select event_id, version_id, type, at from pack.event
  where passport_id = p_passport and (p_version is null or version_id = p_version)
  order by at, event_id
  limit 1000
$$;
