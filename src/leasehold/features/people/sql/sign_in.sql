-- Let a person in: those with a tenant, those who are invited, anybody where sign-up is open, and with p_first whoever is
-- the first of all. Their record is made or brought up to date, their invitations become memberships, their session
-- begins. No row, but an entry in the audit log, for whom there is no place.
-- internal
create or replace function leasehold.sign_in(
  p_issuer text, p_subject text, p_email text, p_name text, p_settings jsonb, p_signup boolean, p_first boolean,
  p_session_id text, p_kind text, p_digest bytea, p_pepper_id text, p_seconds double precision, p_as_staff boolean
) returns setof leasehold.person_view
language plpgsql as $$
declare
  v_now      timestamptz := leasehold.now();
  v_person   leasehold.person;
  v_first    boolean;
  v_tenants  uuid[];
begin
  -- One at a time for each person, or two could make them two tenants; and only one is the first of all.
  if p_first then
    perform pg_advisory_xact_lock(7506, 0);
  end if;
  perform pg_advisory_xact_lock(7508, hashtext(p_issuer || ' ' || p_subject));
  select * into v_person from leasehold.person where issuer = p_issuer and subject = p_subject;
  v_first := p_first and not exists (select from leasehold.person);
  if not (
    p_signup or v_first or coalesce(v_person.is_operator, false)
    or exists (select from leasehold.membership where person_id = v_person.person_id)
    or exists (select from leasehold.invitation where email = lower(p_email) and expires_at > v_now)
  ) then
    perform leasehold.log_action(null, 'person.refuse', p_email, jsonb_build_object('issuer', p_issuer, 'subject', p_subject));
    return;
  end if;

  insert into leasehold.person (person_id, issuer, subject, email, name, settings, is_operator, created_at, signed_in_at)
  values (leasehold.new_id(leasehold.micros(v_now)), p_issuer, p_subject, p_email, p_name, p_settings, v_first, v_now, v_now)
  on conflict (issuer, subject) do update set email = p_email, name = p_name, signed_in_at = v_now
  returning * into v_person;
  perform set_config('leasehold.actor', 'person:' || v_person.person_id, true);
  if v_person.created_at = v_now then
    perform leasehold.log_action(null, 'person.create', v_person.person_id::text, jsonb_build_object('email', p_email, 'operator', v_first));
  end if;
  v_person.is_operator := leasehold.accept_invitations(v_person.person_id, p_email) or v_person.is_operator;
  v_tenants := array(select tenant_id from leasehold.membership where person_id = v_person.person_id);
  if v_tenants = '{}' and not v_person.is_operator then
    if not p_signup then
      raise exception 'the invitation is gone' using errcode = 'LH409', hint = 'somebody took it, or took it back, just now';
    end if;
    v_tenants := array[leasehold.create_personal_tenant(v_person.person_id, p_email)];
  end if;
  perform leasehold.put_session(
    p_session_id, p_kind, v_person.person_id, case cardinality(v_tenants) when 1 then v_tenants[1] end,
    p_as_staff and v_person.is_operator, p_digest, p_pepper_id, p_seconds
  );
  return next (
    v_person.person_id, v_person.issuer, v_person.subject, v_person.email, v_person.name, v_person.settings,
    v_person.is_operator, v_person.created_at, v_person.signed_in_at
  )::leasehold.person_view;
end
$$;
