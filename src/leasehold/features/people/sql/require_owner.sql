-- Refuse a change of a member that is not there, or that would leave the tenant without an owner. A null role: they leave.
-- internal
create or replace function leasehold.require_owner(p_tenant uuid, p_person uuid, p_role text) returns void
language plpgsql as $$
declare
  v_role text;
begin
  -- One at a time for each tenant, or two owners could each remove the other.
  perform pg_advisory_xact_lock(7507, hashtext(p_tenant::text));
  select role into v_role from leasehold.membership where tenant_id = p_tenant and person_id = p_person;
  if not found then
    raise exception 'there is no member %', p_person using errcode = 'LH404';
  end if;
  if v_role = 'owner' and p_role is distinct from 'owner' and not exists (
    select from leasehold.membership where tenant_id = p_tenant and role = 'owner' and person_id <> p_person
  ) then
    raise exception 'a tenant with people has an owner, and this is the last' using errcode = 'LH409', hint = 'make another one owner first';
  end if;
end
$$;
