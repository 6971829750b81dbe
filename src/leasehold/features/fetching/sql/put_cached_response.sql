-- Remember for p_days what a URL answered the current tenant; its body is there already, and stays until the URL answers
-- something else.
-- for: worker
create or replace function leasehold.put_cached_response(
  p_url_sha256 bytea, p_status integer, p_etag text, p_last_modified text, p_content_type text, p_sha256 bytea, p_days double precision
) returns void
language plpgsql as $$
declare
  v_tenant uuid := leasehold.current_tenant();
begin
  perform leasehold.hold_blob('url ' || encode(p_url_sha256, 'hex'), p_sha256, p_days);
  insert into leasehold.remembered (tenant_id, url_sha256, status, etag, last_modified, content_type, sha256, keep_until)
  values (
    v_tenant, p_url_sha256, p_status, p_etag, p_last_modified, p_content_type, p_sha256,
    leasehold.now() + make_interval(secs => p_days * 86400)
  )
  on conflict (tenant_id, url_sha256) do update set
    status = excluded.status, etag = excluded.etag, last_modified = excluded.last_modified,
    content_type = excluded.content_type, sha256 = excluded.sha256, keep_until = excluded.keep_until;
end
$$;
