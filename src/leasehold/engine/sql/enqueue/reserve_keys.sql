-- Reserve idempotency keys for new jobs. Returns one id for each key: the new job's own where the key was free, else the
-- job that has it; null keys stay with their new job.
--
-- Several statements, because one cannot see the row it has just waited for. Keys are inserted in order, or two batches
-- would deadlock. A caller whose key another open transaction holds waits a little and is then told so.
-- internal
create or replace function leasehold.reserve_keys(
  p_tenant uuid, p_kind text, p_keys text[], p_payloads jsonb[], p_jobs uuid[], p_options jsonb
) returns uuid[]
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set lock_timeout = '5s'
as $$
declare
  v_now     timestamptz := leasehold.now();
  v_window  double precision := (leasehold.default_options() || p_options ->> 'key_window_s')::double precision;
  v_expires timestamptz := v_now + make_interval(secs => v_window);
  v_prints  bytea[];
  v_ids     uuid[] := p_jobs;
  v_new     uuid[];
  v_row     leasehold.idempotency;
begin
  v_prints := array(select sha256(convert_to(p::text, 'UTF8')) from unnest(p_payloads) with ordinality u(p, o) order by o);
  with inserted as (
    insert into leasehold.idempotency (tenant_id, kind, key, fingerprint, job_id, expires_at)
    select p_tenant, p_kind, k, f, j, v_expires from unnest(p_keys, v_prints, p_jobs) u(k, f, j) where k is not null order by k
    on conflict do nothing
    returning job_id
  )
  select array_agg(job_id) into v_new from inserted;

  for v_place in 1..cardinality(p_keys) loop
    continue when p_keys[v_place] is null or p_jobs[v_place] = any(v_new);
    loop
      select * into v_row from leasehold.idempotency where tenant_id = p_tenant and kind = p_kind and key = p_keys[v_place];
      if not found then  -- it was removed meanwhile
        insert into leasehold.idempotency (tenant_id, kind, key, fingerprint, job_id, expires_at)
        values (p_tenant, p_kind, p_keys[v_place], v_prints[v_place], p_jobs[v_place], v_expires)
        on conflict do nothing;
        exit when found;
      elsif v_row.expires_at <= v_now then
        update leasehold.idempotency set fingerprint = v_prints[v_place], job_id = p_jobs[v_place], expires_at = v_expires
        where tenant_id = p_tenant and kind = p_kind and key = p_keys[v_place] and expires_at <= v_now;
        exit when found;
      elsif v_row.fingerprint <> v_prints[v_place] then
        raise exception 'key % of % was used with another payload', quote_literal(p_keys[v_place]), p_kind
          using errcode = 'LH409', hint = format('job %s has it until %s', v_row.job_id, v_row.expires_at);
      else
        v_ids[v_place] := v_row.job_id;
        exit;
      end if;
    end loop;
  end loop;
  return v_ids;
exception when lock_not_available then
  raise exception 'a job with the same key is being enqueued by another transaction' using errcode = 'LH409', hint = 'try again in a moment';
end
$$;
