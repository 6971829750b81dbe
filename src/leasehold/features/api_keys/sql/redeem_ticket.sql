-- Use a ticket up: for whom and which job or flow it was, if it is still good and its key is. No row
-- otherwise.
-- for: api
create or replace function leasehold.redeem_ticket(p_digest bytea)
returns table (tenant_id uuid, job_id uuid, flow_id uuid, key_id text)
language sql as $$
  with taken as (
    delete from leasehold.ticket where digest = p_digest returning *
  )
  select t.tenant_id, t.job_id, t.flow_id, k.key_id
  from taken t join leasehold.api_key k on k.key_id = t.key_id
  where t.expires_at > leasehold.now() and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > leasehold.now())
$$;
