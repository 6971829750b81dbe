-- Keep a ticket for one stream of a job or a flow of the current tenant, or of the whole tenant where
-- both are null, on behalf of a person's session that acts in it.
-- for: api
create or replace function leasehold.create_session_ticket(
  p_digest bytea, p_job uuid, p_flow uuid, p_session_id text, p_seconds double precision default 60
) returns timestamptz
language plpgsql as $$
declare
  v_tenant  uuid := leasehold.current_tenant();
  v_expires timestamptz := leasehold.now() + make_interval(secs => p_seconds);
begin
  if p_job is not null then
    perform leasehold.require_job(p_job);
  end if;
  if p_flow is not null then
    perform leasehold.require_flow(p_flow);
  end if;
  insert into leasehold.session_ticket (digest, tenant_id, job_id, flow_id, session_id, expires_at)
  select p_digest, v_tenant, p_job, p_flow, session_id, v_expires
  from leasehold.session where session_id = p_session_id and tenant_id = v_tenant and revoked_at is null;
  if not found then
    raise exception 'there is no session %', quote_literal(p_session_id) using errcode = 'LH404';
  end if;
  return v_expires;
end
$$;
