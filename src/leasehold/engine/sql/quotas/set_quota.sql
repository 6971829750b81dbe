-- Let a tenant have so many of a thing; null: as many as are usual. What it has already stays. Logged.
-- for: operator
create or replace function leasehold.set_quota(p_tenant uuid, p_what text, p_most integer) returns void
language plpgsql as $$
begin
  if not exists (select from leasehold.quota where what = p_what) then
    raise exception 'there is no quota of %', quote_nullable(p_what)
      using errcode = 'LH404', hint = 'one of ' || (select string_agg(what, ', ' order by what) from leasehold.quota);
  end if;
  if p_most < 0 then
    raise exception 'a quota is a number from 0' using errcode = 'LH400';
  end if;
  update leasehold.tenant set
    quotas = case when p_most is null then quotas - p_what else quotas || jsonb_build_object(p_what, p_most) end
  where tenant_id = p_tenant;
  if not found then
    raise exception 'there is no tenant %', p_tenant using errcode = 'LH404';
  end if;
  perform leasehold.log_action(p_tenant, 'tenant.quota', p_tenant::text, jsonb_build_object('what', p_what, 'most', p_most));
end
$$;
