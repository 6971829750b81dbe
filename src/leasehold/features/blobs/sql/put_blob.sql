-- Keep a body of the current tenant for at least p_days, under the digest of its bytes before compression: the bytes
-- themselves, or the key of an object that holds them. One that is there already is kept for longer, and what was
-- given is not used. The caller has made the digest; whoever reads compares it.
-- for: worker
create or replace function leasehold.put_blob(
  p_sha256 bytea, p_size bigint, p_media_type text, p_days double precision, p_bytes bytea, p_coding text default null,
  p_object_key text default null
) returns void
language plpgsql as $$
declare
  c_limit  constant integer := 16 * 1024 * 1024;
  v_tenant uuid := leasehold.current_tenant();
  v_until  timestamptz := leasehold.now() + make_interval(secs => p_days * 86400);
begin
  if length(p_bytes) > c_limit then
    raise exception 'a body has at most % bytes, not %', c_limit, length(p_bytes) using errcode = 'LH413';
  end if;
  if coalesce(length(p_sha256), 0) <> 32 or coalesce(length(p_media_type), 0) not between 1 and 255 or coalesce(p_size, -1) < 0
    or coalesce(p_days, 0) not between 0 and 36500 or p_days = 0 or (p_bytes is null) = (p_object_key is null)
    or coalesce(p_coding, 'zlib') <> 'zlib'
  then
    raise exception 'a body has a SHA-256, a size, a media type of 1 to 255 characters, bytes or an object, and up to 36500 days'
      using errcode = 'LH400';
  end if;
  if not exists (select from leasehold.tenant where tenant_id = v_tenant) then
    raise exception 'there is no tenant %', v_tenant using errcode = 'LH404';
  end if;
  insert into leasehold.body (tenant_id, sha256, bytes, coding, size, media_type, at, object_key, named, keep_until)
  values (v_tenant, p_sha256, p_bytes, p_coding, p_size, p_media_type, leasehold.now(), p_object_key, false, v_until)
  on conflict (tenant_id, sha256) do nothing;
  if not found then
    update leasehold.body set keep_until = greatest(keep_until, v_until) where tenant_id = v_tenant and sha256 = p_sha256;
  elsif p_object_key is not null then
    delete from leasehold.loose_object where object_key = p_object_key;
    if not found then
      raise exception 'the object % is not there any more', p_object_key using errcode = 'LH409', hint = 'put it again';
    end if;
  end if;
end
$$;
