-- A remote worker under a key of the installation introduces itself. It is granted jobs of every tenant, from queues that
-- are there.
-- for: operator
create or replace function leasehold.register_operator_worker(
  p_key text, p_name text, p_version text, p_queues text[], p_kinds text[], p_slots integer, p_lease_s real
) returns uuid
language plpgsql as $$
declare
  v_known text[] := array(select queue from leasehold.queue order by queue);
begin
  if not exists (
    select from leasehold.api_key where key_id = p_key and tenant_id is null and revoked_at is null
  ) then
    raise exception 'there is no key % of the installation', quote_literal(p_key) using errcode = 'LH404';
  end if;
  if not coalesce(p_queues, v_known) <@ v_known or p_queues = '{}' then
    raise exception 'there are the queues %', array_to_string(v_known, ', ')
      using errcode = 'LH404', hint = 'make others with: leasehold queues create';
  end if;
  return leasehold.put_worker(null, p_key, p_name, p_version, coalesce(p_queues, v_known), p_kinds, p_slots, p_lease_s);
end
$$;
