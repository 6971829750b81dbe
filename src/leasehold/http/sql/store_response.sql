-- Keep the answer to a request of the current tenant, in the transaction that began it and did what it asked.
-- for: api
create or replace function leasehold.store_response(p_key text, p_status smallint, p_headers jsonb, p_answer text) returns void
language plpgsql as $$
begin
  update leasehold.request set status = p_status, headers = p_headers, answer = p_answer
  where tenant_id = leasehold.current_tenant() and key = p_key and status is null;
  if not found then
    raise exception 'no request was begun with this Idempotency-Key' using errcode = 'LH404';
  end if;
end
$$;
