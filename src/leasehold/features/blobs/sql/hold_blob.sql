-- Keep a body of the current tenant as long as this name stands for it: for p_days, unless it is named again. What the name
-- stood for before is let go; it stays for an hour, so that a job that compares the two can still keep it.
-- for: worker
create or replace function leasehold.hold_blob(p_name text, p_sha256 bytea, p_days double precision) returns void
language plpgsql as $$
declare
  v_tenant uuid := leasehold.current_tenant();
  v_until  timestamptz;
  v_before bytea;
begin
  if coalesce(length(p_name), 0) not between 1 and 200 or coalesce(p_days, 0) not between 0 and 36500 or p_days = 0 then
    raise exception 'a body is held under a name of 1 to 200 characters, for up to 36500 days' using errcode = 'LH400';
  end if;
  v_until := leasehold.now() + make_interval(secs => p_days * 86400);
  perform from leasehold.body where tenant_id = v_tenant and sha256 = p_sha256 for key share;  -- purge passes it by
  if not found then
    raise exception 'there is no body %', encode(p_sha256, 'hex') using errcode = 'LH404';
  end if;
  select sha256 into v_before from leasehold.held where tenant_id = v_tenant and name = p_name for update;
  insert into leasehold.held (tenant_id, name, sha256, keep_until) values (v_tenant, p_name, p_sha256, v_until)
  on conflict (tenant_id, name) do update set
    sha256 = excluded.sha256,
    keep_until = case when held.sha256 = excluded.sha256 then greatest(held.keep_until, v_until) else v_until end;
  update leasehold.body set keep_until = greatest(keep_until, leasehold.now() + interval '1 hour')
  where tenant_id = v_tenant and sha256 = v_before and v_before <> p_sha256;
end
$$;
