-- The live sessions of a person, or of the operator where the person is null, newest first (at most 1000).
-- for: api, operator
create or replace function leasehold.list_sessions(p_person uuid)
returns table (
  session_id text, kind text, tenant_id uuid, created_at timestamptz, seen_at timestamptz,
  expires_at timestamptz
)
language sql stable as $$
  select session_id, kind, tenant_id, created_at, seen_at, expires_at
  from leasehold.session
  where person_id is not distinct from p_person and revoked_at is null and expires_at > leasehold.now()
  order by created_at desc, session_id
  limit 1000
$$;
