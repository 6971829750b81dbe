-- Keep bytes of the current tenant; returns their digest.
-- for: api, worker
create or replace function leasehold.put_body(p_bytes bytea, p_media_type text default 'application/octet-stream') returns bytea
language plpgsql as $$
declare
  c_limit constant integer := 16 * 1024 * 1024;
begin
  if p_bytes is null or length(p_bytes) > c_limit then
    raise exception 'a body has at most % bytes, not %', c_limit, length(p_bytes) using errcode = 'LH413';
  end if;
  if p_media_type is null or length(p_media_type) not between 1 and 255 then
    raise exception 'a media type has 1 to 255 characters' using errcode = 'LH400';
  end if;
  perform leasehold.check_tenants(array[leasehold.current_tenant()]);
  return leasehold.insert_blob(leasehold.current_tenant(), p_bytes, p_media_type);
end
$$;
