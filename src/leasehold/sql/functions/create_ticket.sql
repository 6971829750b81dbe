-- Keep a ticket for one stream of a job of the current tenant, on behalf of one of its keys.
create or replace function leasehold.create_ticket(p_digest bytea, p_job uuid, p_key_id text, p_seconds double precision default 60)
returns timestamptz
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant  uuid := (leasehold.own_job(p_job)).tenant_id;
  v_expires timestamptz := leasehold.now() + make_interval(secs => p_seconds);
begin
  if not exists (select from leasehold.api_key where key_id = p_key_id and tenant_id = v_tenant and revoked_at is null) then
    raise exception 'there is no key %', quote_literal(p_key_id) using errcode = 'LH404';
  end if;
  insert into leasehold.ticket (digest, tenant_id, job_id, key_id, expires_at) values (p_digest, v_tenant, p_job, p_key_id, v_expires);
  return v_expires;
end
$$;

revoke all on function leasehold.create_ticket(bytea, uuid, text, double precision) from public;
grant execute on function leasehold.create_ticket(bytea, uuid, text, double precision) to leasehold_api;
