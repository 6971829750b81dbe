-- The remote worker that this key has registered, alive or not. A tenant's worker is found only where its tenant is set, and
-- one that serves all only where none is. LH411 for any other: whoever asks has to register anew.
-- internal
create or replace function leasehold.require_worker(p_worker uuid, p_key text) returns leasehold.worker
language plpgsql stable as $$
declare
  v_worker leasehold.worker;
begin
  select * into v_worker from leasehold.worker
  where worker_id = p_worker and key_id = p_key
    and tenant_id is not distinct from nullif(current_setting('leasehold.tenant', true), '')::uuid;
  if not found then
    raise exception 'worker % is not registered, or was declared lost', p_worker using errcode = 'LH411';
  end if;
  return v_worker;
end
$$;
