-- Everybody who ever signed in, by address (at most 10000).
-- for: operator
create or replace function leasehold.list_people() returns setof leasehold.person_view
language sql stable as $$
  select person_id, issuer, subject, email, name, settings, is_operator, created_at, signed_in_at
  from leasehold.person
  order by lower(email), person_id
  limit 10000
$$;
