-- Refuse tenants that are not there, or that have too much waiting.
-- internal
create or replace function leasehold.check_tenants(p_tenants uuid[]) returns void
language plpgsql stable as $$
declare
  v_tenant  uuid;
  v_name    text;
  v_waiting bigint;
  v_quota   integer;
begin
  select p into v_tenant from unnest(p_tenants) p left join leasehold.tenant t on t.tenant_id = p where t.tenant_id is null limit 1;
  if found then
    raise exception 'there is no tenant %', coalesce(v_tenant::text, 'null') using errcode = 'LH404';
  end if;
  select t.name, o.waiting, t.max_queued into v_name, v_waiting, v_quota
  from leasehold.tenant t left join leasehold.over_quota o on o.tenant_id = t.tenant_id
  where t.tenant_id = any(p_tenants) and not t.may_queue limit 1;
  if found then
    raise exception 'tenant % has % jobs waiting, its quota is %', v_name, coalesce(v_waiting::text, 'too many'), v_quota
      using errcode = 'LH429', hint = 'wait until some have run, or raise max_queued';
  end if;
end
$$;
