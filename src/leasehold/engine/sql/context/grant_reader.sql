-- Let a login that has only the readonly role read a tenant, or no longer. It takes the tenant as everybody does, by the setting
-- of its transaction, and finds no rows of others. Logged.
-- for: operator
create or replace function leasehold.grant_reader(p_login text, p_tenant uuid, p_may boolean default true) returns void
language plpgsql as $$
begin
  if not exists (select from leasehold.tenant where tenant_id = p_tenant) then
    raise exception 'there is no tenant %', coalesce(p_tenant::text, 'null') using errcode = 'LH404', hint = 'leasehold tenants list';
  end if;
  if p_login is null or length(p_login) not between 1 and 63 then
    raise exception 'a login has 1 to 63 characters' using errcode = 'LH400', hint = 'the name of a role of PostgreSQL';
  end if;
  if p_may then
    insert into leasehold.reader (login, tenant_id, created_at) values (p_login, p_tenant, leasehold.now()) on conflict do nothing;
  else
    delete from leasehold.reader where login = p_login and tenant_id = p_tenant;
  end if;
  if found then
    perform leasehold.log_action(p_tenant, case when p_may then 'reader.let' else 'reader.end' end, p_login);
  end if;
end
$$;
