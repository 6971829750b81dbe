-- Keep a new session; without a person it is the operator's. Logged.
-- internal
create or replace function leasehold.put_session(
  p_session_id text, p_kind text, p_person uuid, p_tenant uuid, p_is_operator boolean, p_digest bytea, p_pepper_id text,
  p_seconds double precision
) returns void
language plpgsql as $$
declare
  v_now timestamptz := leasehold.now();
begin
  insert into leasehold.session (
    session_id, kind, person_id, tenant_id, is_operator, digest, pepper_id, created_at, seen_at, expires_at
  )
  values (
    p_session_id, p_kind, p_person, p_tenant, p_is_operator, p_digest, p_pepper_id, v_now, v_now,
    v_now + make_interval(secs => p_seconds)
  );
  perform leasehold.log_action(
    p_tenant, 'session.create', p_session_id, jsonb_build_object('kind', p_kind, 'person', p_person, 'operator', p_is_operator)
  );
end
$$;
