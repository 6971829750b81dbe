-- Make the row of a unique key, unless it is there, and lock it to the end of the transaction. A caller whose key another
-- open transaction holds waits a little and is then told so.
-- internal
create or replace function leasehold.lock_unique(p_tenant uuid, p_kind text, p_key text) returns void
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set jit = off set lock_timeout = '5s'
as $$
begin
  loop  -- again, when it was purged in between
    insert into leasehold.unique_job (tenant_id, kind, key) values (p_tenant, p_kind, p_key) on conflict do nothing;
    perform from leasehold.unique_job where tenant_id = p_tenant and kind = p_kind and key = p_key for update;
    exit when found;
  end loop;
exception when lock_not_available then
  raise exception 'a job with the unique key % is being enqueued by another transaction', quote_literal(p_key)
    using errcode = 'LH409', hint = 'try again in a moment';
end
$$;
