-- Revoke every session of a person; returns how many. Logged.
-- for: operator
create or replace function leasehold.sign_out_person(p_person uuid) returns integer
language plpgsql as $$
declare
  v_n integer := 0;
  v_session text;
begin
  for v_session in select session_id from leasehold.session where person_id = p_person and revoked_at is null loop
    v_n := v_n + leasehold.revoke_session(v_session, p_person)::integer;
  end loop;
  return v_n;
end
$$;
