-- The tenants of a person and what they are in them, by name.
-- for: api, operator
create or replace function leasehold.list_memberships(p_person uuid) returns table (tenant_id uuid, name text, role text)
language sql stable as $$
  select t.tenant_id, t.name, m.role
  from leasehold.membership m join leasehold.tenant t on t.tenant_id = m.tenant_id
  where m.person_id = p_person
  order by t.name
$$;
