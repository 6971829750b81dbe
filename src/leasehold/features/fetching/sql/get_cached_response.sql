-- What a URL answered the current tenant last, if its body is still there; both are kept for p_days more.
-- for: worker
create or replace function leasehold.get_cached_response(p_url_sha256 bytea, p_days double precision)
returns table (status smallint, etag text, last_modified text, content_type text, sha256 bytea)
language plpgsql as $$
#variable_conflict use_column
declare
  v_tenant uuid := leasehold.current_tenant();
  v_until  timestamptz := leasehold.now() + make_interval(secs => p_days * 86400);
begin
  perform leasehold.hold_blob('url ' || encode(p_url_sha256, 'hex'), r.sha256, p_days)
  from leasehold.remembered r join leasehold.body b on b.tenant_id = r.tenant_id and b.sha256 = r.sha256
  where r.tenant_id = v_tenant and r.url_sha256 = p_url_sha256;
  if found then
    return query update leasehold.remembered r set keep_until = greatest(r.keep_until, v_until)
    where r.tenant_id = v_tenant and r.url_sha256 = p_url_sha256
    returning r.status, r.etag, r.last_modified, r.content_type, r.sha256;
  end if;
end
$$;
