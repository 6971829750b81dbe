-- The job that waits or runs under a unique key, if there is one. The key's row is locked to the end of the transaction.
-- internal
create or replace function leasehold.job_of_unique_key(p_tenant uuid, p_kind text, p_key text) returns uuid
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  v_job uuid;
begin
  perform leasehold.lock_unique(p_tenant, p_kind, p_key);
  select u.job_id into v_job from leasehold.unique_job u
  where u.tenant_id = p_tenant and u.kind = p_kind and u.key = p_key
    and exists (select from leasehold.job j where j.job_id = u.job_id)
    and not exists (select from leasehold.outcome o where o.job_id = u.job_id);
  return v_job;
end
$$;
