-- The live sessions of a person, or of the operator where the person is null, newest first (at most 1000).
create or replace function leasehold.list_sessions(p_person uuid) returns setof leasehold.session_view
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select session_id, kind, tenant_id, created_at, seen_at, expires_at
  from leasehold.session
  where person_id is not distinct from p_person and revoked_at is null and expires_at > leasehold.now()
  order by created_at desc, session_id
  limit 1000
$$;

revoke all on function leasehold.list_sessions(uuid) from public;
grant execute on function leasehold.list_sessions(uuid) to leasehold_api, leasehold_operator;
