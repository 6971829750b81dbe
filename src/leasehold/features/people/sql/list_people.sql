-- Everybody who ever signed in, by address (at most 10000).
create or replace function leasehold.list_people() returns setof leasehold.person_view
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select person_id, issuer, subject, email, name, settings, is_operator, created_at, signed_in_at
  from leasehold.person
  order by lower(email), person_id
  limit 10000
$$;

revoke all on function leasehold.list_people() from public;
grant execute on function leasehold.list_people() to leasehold_operator;
