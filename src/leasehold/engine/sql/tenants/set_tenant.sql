-- Change a tenant's weight and limits; null leaves a value as it is. Logged.
-- for: operator
create or replace function leasehold.set_tenant(
  p_tenant uuid, p_weight real default null, p_max_running integer default null, p_max_queued integer default null
) returns void
language plpgsql as $$
begin
  update leasehold.tenant set
    weight = coalesce(p_weight, weight), max_running = coalesce(p_max_running, max_running), max_queued = coalesce(p_max_queued, max_queued)
  where tenant_id = p_tenant;
  if not found then
    raise exception 'there is no tenant %', p_tenant using errcode = 'LH404';
  end if;
  perform leasehold.log_action(p_tenant, 'tenant.set', p_tenant::text, jsonb_strip_nulls(
    jsonb_build_object('weight', p_weight, 'max_running', p_max_running, 'max_queued', p_max_queued)));
exception when check_violation then
  raise exception 'weight is between 0.01 and 100, max_running and max_queued are at least 1' using errcode = 'LH400';
end
$$;
