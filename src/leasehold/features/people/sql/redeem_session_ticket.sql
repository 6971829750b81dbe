-- Use a ticket up: for whom and which job or flow it was, if it is still good and its session acts in
-- the tenant. No row otherwise.
-- for: api
create or replace function leasehold.redeem_session_ticket(p_digest bytea)
returns table (tenant_id uuid, job_id uuid, flow_id uuid, session_id text)
language sql as $$
  with taken as (
    delete from leasehold.session_ticket where digest = p_digest returning *
  )
  select t.tenant_id, t.job_id, t.flow_id, t.session_id
  from taken t cross join lateral leasehold.find_session(t.session_id) s
  where t.expires_at > leasehold.now() and s.is_live and s.tenant_id = t.tenant_id
$$;
