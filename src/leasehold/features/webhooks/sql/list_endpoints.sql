-- The endpoints of the current tenant, oldest first; with p_endpoint that one, or LH404.
-- for: api, operator
create or replace function leasehold.list_endpoints(p_endpoint uuid default null)
returns table (
  endpoint_id uuid, url text, events text[], format text, header_names jsonb, headers text[],
  max_in_flight smallint, timeout_s real, disable_after interval, state text, reason text,
  state_at timestamptz, created_at timestamptz, failing_since timestamptz,
  resting_until timestamptz, secrets integer, max_per_minute integer, ordered boolean
)
language plpgsql as $$
#variable_conflict use_column
declare
  v_tenant uuid := leasehold.current_tenant();
begin
  if p_endpoint is not null then
    perform leasehold.require_endpoint(p_endpoint);
  end if;
  return query
  select
    e.endpoint_id, e.url, e.events, e.format, e.header_names, e.headers, e.max_in_flight, e.timeout_s, e.disable_after,
    e.state, e.reason, e.state_at, e.created_at, e.failing_since, e.resting_until,
    (
      select count(*)::integer from leasehold.secret s
      where s.owner_id = e.endpoint_id and s.name not like '%/headers' and coalesce(s.expires_at > leasehold.now(), true)
    ),
    e.max_per_minute, e.ordered
  from leasehold.endpoint e
  where e.tenant_id = v_tenant and e.endpoint_id = coalesce(p_endpoint, e.endpoint_id)
  order by e.endpoint_id;
end
$$;
