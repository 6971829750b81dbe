-- Keep a link that signs the operator in once; its session begins in the tenant of this name, if there is one. Logged.
-- for: operator
create or replace function leasehold.create_login_link(p_digest bytea, p_seconds double precision, p_tenant text default null)
returns timestamptz
language plpgsql as $$
declare
  v_actor   text := coalesce(nullif(current_setting('leasehold.actor', true), ''), session_user);
  v_tenant  uuid := (select tenant_id from leasehold.tenant where name = p_tenant or tenant_id::text = lower(p_tenant));
  v_expires timestamptz := leasehold.now() + make_interval(secs => p_seconds);
begin
  insert into leasehold.login_link (digest, tenant_id, created_by, expires_at) values (p_digest, v_tenant, v_actor, v_expires);
  perform leasehold.log_action(null, 'login_link.create', encode(substring(p_digest for 6), 'hex'));
  return v_expires;
end
$$;
