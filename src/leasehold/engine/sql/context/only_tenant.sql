-- The tenant of a caller who names none: default, where there is no other. Elsewhere a forgotten name would give one customer's
-- work to another.
-- internal
create or replace function leasehold.only_tenant() returns uuid
language plpgsql stable as $$
declare
  c_ours constant text[] := array['default', 'system'];
begin
  if exists (select from leasehold.tenant where name <> all(c_ours)) then
    raise exception 'no tenant is named, and this installation has others than default'
      using errcode = 'LH400', hint = 'name it: --tenant NAME, LEASEHOLD_TENANT=NAME, or tenant= in a program';
  end if;
  return leasehold.find_tenant('default');
end
$$;
