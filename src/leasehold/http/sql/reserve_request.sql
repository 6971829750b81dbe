-- Begin to answer a request of the current tenant that named an Idempotency-Key. No row: go on, and call store_response in
-- the same transaction. A row: the answer that was given before. Another request under the same key is LH422.
--
-- Whoever comes second waits for the first to commit, a little, and is then told to try again. Several statements,
-- because one cannot see the row it has just waited for.
-- for: api
create or replace function leasehold.reserve_request(p_key text, p_fingerprint bytea, p_window_s double precision default 86400)
returns table (status smallint, headers jsonb, answer text)
language plpgsql
set lock_timeout = '5s'
as $$
#variable_conflict use_column
declare
  v_tenant uuid := leasehold.current_tenant();
  v_now    timestamptz := leasehold.now();
  v_row    leasehold.request;
begin
  if p_key is null or length(p_key) not between 1 and 255 then
    raise exception 'an Idempotency-Key has 1 to 255 characters' using errcode = 'LH400';
  end if;
  if not exists (select from leasehold.tenant where tenant_id = v_tenant) then
    raise exception 'there is no tenant %', v_tenant using errcode = 'LH404';
  end if;
  loop
    insert into leasehold.request (tenant_id, key, fingerprint, expires_at)
    values (v_tenant, p_key, p_fingerprint, v_now + make_interval(secs => p_window_s))
    on conflict do nothing;
    exit when found;
    select * into v_row from leasehold.request where tenant_id = v_tenant and key = p_key;
    continue when not found;
    if v_row.expires_at <= v_now then
      delete from leasehold.request where tenant_id = v_tenant and key = p_key and expires_at <= v_now;
    elsif v_row.fingerprint <> p_fingerprint then
      raise exception 'this Idempotency-Key was used for another request'
        using errcode = 'LH422', hint = 'a new request takes a new key';
    else
      return query select v_row.status, v_row.headers, v_row.answer;
      return;
    end if;
  end loop;
exception when lock_not_available then
  raise exception 'a request with this Idempotency-Key is being answered' using errcode = 'LH409', hint = 'try again in a moment';
end
$$;
