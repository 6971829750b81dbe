-- A person, by id. No row if there is none.
-- for: api, operator
create or replace function leasehold.get_person(p_person uuid) returns setof leasehold.person_view
language sql stable as $$
  select person_id, issuer, subject, email, name, settings, is_operator, created_at, signed_in_at
  from leasehold.person where person_id = p_person
$$;
