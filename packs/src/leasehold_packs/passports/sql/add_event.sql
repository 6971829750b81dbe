-- What happened to a passport, for its own history.
-- for: api, worker
create or replace function pack.add_event(
  p_tenant uuid, p_event uuid, p_passport uuid, p_version uuid, p_type text
)
returns void
language sql
as $$
  insert into pack.event (tenant_id, event_id, passport_id, version_id, type)
  values (p_tenant, p_event, p_passport, p_version, p_type)
$$;
