-- Note what the job p_report of the current tenant has made; its body is there already. Made again, the newer one counts.
-- for: worker
create or replace function leasehold.put_report(
  p_report uuid, p_name text, p_title text, p_format text, p_media_type text, p_sha256 bytea, p_size bigint, p_lines bigint,
  p_days double precision
) returns timestamptz
language sql volatile as $$
  insert into leasehold.report (report_id, tenant_id, name, title, format, media_type, sha256, size, lines, created_at, expires_at)
  select
    j.job_id, j.tenant_id, p_name, p_title, p_format, p_media_type, p_sha256, p_size, p_lines, leasehold.now(),
    leasehold.now() + make_interval(secs => p_days * 86400)
  from leasehold.require_job(p_report) j
  on conflict (report_id) do update set
    sha256 = excluded.sha256, size = excluded.size, lines = excluded.lines, created_at = excluded.created_at, expires_at = excluded.expires_at
  returning expires_at
$$;
