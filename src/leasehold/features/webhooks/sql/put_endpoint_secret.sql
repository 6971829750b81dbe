-- Give an endpoint of the current tenant a new secret to sign with. Those that it has go on signing for p_overlap_s, so
-- that its receiver can change over at any moment until then. Logged.
-- for: api, operator
create or replace function leasehold.put_endpoint_secret(
  p_endpoint uuid, p_name text, p_key_id text, p_wrapped bytea, p_box bytea, p_overlap_s double precision default 86400
) returns void
language plpgsql as $$
declare
  v_endpoint leasehold.endpoint := leasehold.require_endpoint(p_endpoint);
  v_now      timestamptz := leasehold.now();
  v_until    timestamptz := v_now + make_interval(secs => p_overlap_s);
  v_old      integer;
begin
  if not starts_with(p_name, format('endpoint/%s/', p_endpoint)) or p_overlap_s is null or not p_overlap_s between 0 and 31536000 then
    raise exception 'a secret of an endpoint is called after it, and overlaps for at most a year' using errcode = 'LH400';
  end if;
  delete from leasehold.secret where owner_id = p_endpoint and expires_at <= v_now;
  update leasehold.secret set expires_at = least(expires_at, v_until)
  where owner_id = p_endpoint and name not like '%/headers';
  get diagnostics v_old = row_count;
  if v_old >= 10 then
    raise exception 'endpoint % has % live secrets', p_endpoint, v_old using errcode = 'LH409', hint = 'wait until some have expired';
  end if;
  insert into leasehold.secret (tenant_id, name, owner_id, key_id, wrapped, box, created_at, updated_at)
  values (v_endpoint.tenant_id, p_name, p_endpoint, p_key_id, p_wrapped, p_box, v_now, v_now);
  if v_old > 0 then
    perform leasehold.log_action(v_endpoint.tenant_id, 'endpoint.rotate', p_endpoint::text, jsonb_build_object('old_until', v_until));
  end if;
end
$$;
