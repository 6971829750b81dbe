-- A person, by id. No row if there is none.
create or replace function leasehold.get_person(p_person uuid) returns setof leasehold.person_view
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select person_id, issuer, subject, email, name, settings, is_operator, created_at, signed_in_at
  from leasehold.person where person_id = p_person
$$;

revoke all on function leasehold.get_person(uuid) from public;
grant execute on function leasehold.get_person(uuid) to leasehold_api, leasehold_operator;
