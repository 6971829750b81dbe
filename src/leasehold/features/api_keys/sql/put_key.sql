-- Keep a new key of a tenant, or of the installation where the tenant is null. Logged.
-- internal
create or replace function leasehold.put_key(
  p_tenant uuid, p_key_id text, p_digest bytea, p_pepper_id text, p_name text, p_scopes text[], p_expires_at timestamptz,
  p_queues text[]
) returns leasehold.key_view
language plpgsql as $$
declare
  c_known constant text[] := array['jobs:read', 'jobs:write', 'work', 'admin', 'operator', 'metrics'];
  v_now   timestamptz := leasehold.now();
  v_key   leasehold.api_key;
  v_unknown text;
  v_most  integer;
begin
  if not coalesce(p_scopes <@ c_known and cardinality(p_scopes) > 0, false) then
    raise exception 'scopes are one or more of: %', array_to_string(c_known, ', ') using errcode = 'LH400';
  end if;
  if (p_tenant is null) <> (p_scopes && array['operator', 'metrics']) or p_tenant is null and cardinality(p_scopes) > 1 then
    raise exception 'a key of the installation has no tenant, and one scope: operator or metrics' using errcode = 'LH400';
  end if;
  if ('work' = any(p_scopes)) <> coalesce(cardinality(p_queues) > 0, false) then
    raise exception 'a key with the scope work names the queues that it may work on, and no other key does' using errcode = 'LH400';
  end if;
  select q into v_unknown from unnest(p_queues) q where not exists (select from leasehold.queue where queue = q) limit 1;
  if found then
    raise exception 'there is no queue %', quote_literal(v_unknown) using errcode = 'LH404', hint = format('leasehold queues create %s', v_unknown);
  end if;
  if p_expires_at <= v_now then
    raise exception 'expires_at % has passed', p_expires_at using errcode = 'LH400';
  end if;
  if p_tenant is not null and not exists (select from leasehold.tenant where tenant_id = p_tenant) then
    raise exception 'there is no tenant %', p_tenant using errcode = 'LH404';
  end if;
  v_most := leasehold.take_quota(p_tenant, 'keys');
  if (
    select count(*) from leasehold.api_key
    where tenant_id is not distinct from p_tenant and revoked_at is null and (expires_at is null or expires_at > v_now)
  ) >= v_most then
    perform leasehold.refuse_more('keys', v_most);
  end if;
  insert into leasehold.api_key (key_id, tenant_id, name, scopes, digest, pepper_id, created_by, created_at, expires_at, queues)
  values (
    p_key_id, p_tenant, p_name, array(select distinct s from unnest(p_scopes) s order by s), p_digest, p_pepper_id,
    coalesce(nullif(current_setting('leasehold.actor', true), ''), session_user), v_now, p_expires_at,
    (select array_agg(distinct q order by q) from unnest(p_queues) q)
  )
  returning * into v_key;
  perform leasehold.log_action(
    p_tenant, 'key.create', p_key_id,
    jsonb_build_object('name', p_name, 'scopes', v_key.scopes, 'expires_at', p_expires_at)
      || case when v_key.queues is null then '{}' else jsonb_build_object('queues', v_key.queues) end
  );
  return (
    v_key.key_id, v_key.tenant_id, v_key.name, v_key.scopes, v_key.created_by, v_key.created_at,
    v_key.expires_at, v_key.revoked_at, v_key.last_used_at, v_key.queues
  );
exception when check_violation then
  raise exception 'a key has a name of 1 to 100 characters' using errcode = 'LH400';
end
$$;
