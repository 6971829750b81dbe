-- Whom a login that only reads may read: the setting of a transaction can be anybody's, and a role may even change what its
-- sessions begin with. Private to the functions.
create table leasehold.reader (
  login      name not null,  -- it need not exist: logins belong to the server
  tenant_id  uuid not null references leasehold.tenant on delete cascade,
  created_at timestamptz not null,
  primary key (login, tenant_id)
);
create index reader_by_tenant on leasehold.reader (tenant_id);

-- Where there are tables already: for readers they get another policy, with the grants.
do $$
declare
  v_table regclass;
begin
  for v_table in
    select p.polrelid from pg_policy p join pg_class c on c.oid = p.polrelid
    where p.polname = 'own_rows' and c.relowner = 'leasehold_owner'::regrole
  loop
    execute format('alter policy own_rows on %s to leasehold_api, leasehold_worker', v_table);
  end loop;
end
$$;
