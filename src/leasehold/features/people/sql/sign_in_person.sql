-- Let a person in whom an issuer vouches for. Never as operator: that takes the operator's login (sign_in_staff).
-- for: api
create or replace function leasehold.sign_in_person(
  p_issuer text, p_subject text, p_email text, p_name text, p_settings jsonb, p_signup boolean,
  p_session_id text, p_kind text, p_digest bytea, p_pepper_id text, p_seconds double precision
) returns setof leasehold.person_view
language sql as $$
  select * from leasehold.sign_in(
    p_issuer, p_subject, p_email, p_name, p_settings, p_signup, false, p_session_id, p_kind, p_digest, p_pepper_id, p_seconds, false
  )
$$;
