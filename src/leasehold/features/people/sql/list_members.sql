-- The people of the current tenant, by address.
create or replace function leasehold.list_members() returns setof leasehold.member_view
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select p.person_id, p.email, p.name, m.role, m.created_at, p.signed_in_at
  from leasehold.membership m join leasehold.person p on p.person_id = m.person_id
  where m.tenant_id = leasehold.current_tenant()
  order by lower(p.email), p.person_id
$$;

revoke all on function leasehold.list_members() from public;
grant execute on function leasehold.list_members() to leasehold_api, leasehold_operator;
