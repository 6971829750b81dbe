-- Keep a sealed secret of the current tenant, in the place of the one that has its name. Logged, without its value.
-- for: api, worker, operator
create or replace function leasehold.put_secret(p_name text, p_key_id text, p_wrapped bytea, p_box bytea) returns void
language plpgsql as $$
declare
  v_tenant uuid := leasehold.current_tenant();
  v_most   integer;
begin
  if p_name is null or p_name !~ '^[a-z0-9][a-z0-9_.-]{0,62}$' then
    raise exception 'a secret cannot be called %', quote_nullable(p_name)
      using errcode = 'LH400', hint = 'lower-case letters, digits, dot, dash and underscore, at most 63';
  end if;
  if not exists (select from leasehold.tenant where tenant_id = v_tenant) then
    raise exception 'there is no tenant %', v_tenant using errcode = 'LH404';
  end if;
  v_most := leasehold.take_quota(v_tenant, 'secrets');
  if (select count(*) from leasehold.secret where tenant_id = v_tenant and owner_id is null and name <> p_name) >= v_most then
    perform leasehold.refuse_more('secrets', v_most);
  end if;
  insert into leasehold.secret as s (tenant_id, name, key_id, wrapped, box, created_at, updated_at)
  values (v_tenant, p_name, p_key_id, p_wrapped, p_box, leasehold.now(), leasehold.now())
  on conflict (tenant_id, name) do update
  set key_id = excluded.key_id, wrapped = excluded.wrapped, box = excluded.box, updated_at = excluded.updated_at;
  perform leasehold.log_action(v_tenant, 'secret.set', p_name);
end
$$;
