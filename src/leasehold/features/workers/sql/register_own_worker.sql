-- A remote worker of the current tenant introduces itself under a key that names the queues it may work on (null: all of
-- them). It will be granted jobs of this tenant, and no others.
-- for: api
create or replace function leasehold.register_own_worker(
  p_key text, p_name text, p_version text, p_queues text[], p_kinds text[], p_slots integer, p_lease_s real
) returns uuid
language plpgsql as $$
declare
  v_tenant uuid := leasehold.current_tenant();
  v_queues text[];
begin
  select queues into v_queues from leasehold.api_key
  where key_id = p_key and tenant_id = v_tenant and 'work' = any(scopes) and revoked_at is null;
  if not found then
    raise exception 'there is no key % for workers', quote_literal(p_key) using errcode = 'LH404';
  end if;
  if not coalesce(p_queues, v_queues) <@ v_queues or p_queues = '{}' then
    raise exception 'this key is for the queues %', array_to_string(v_queues, ', ') using errcode = 'LH400';
  end if;
  return leasehold.put_worker(v_tenant, p_key, p_name, p_version, coalesce(p_queues, v_queues), p_kinds, p_slots, p_lease_s);
end
$$;
