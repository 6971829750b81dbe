-- The people of the current tenant, by address.
-- for: api, operator
create or replace function leasehold.list_members()
returns table (
  person_id uuid, email text, name text, role text, created_at timestamptz, signed_in_at timestamptz
)
language sql stable as $$
  select p.person_id, p.email, p.name, m.role, m.created_at, p.signed_in_at
  from leasehold.membership m join leasehold.person p on p.person_id = m.person_id
  where m.tenant_id = leasehold.current_tenant()
  order by lower(p.email), p.person_id
$$;
