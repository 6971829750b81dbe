-- Reports of the current tenant that have not expired, newest first, or the one that is asked for; p_before is the last id
-- of the page before.
-- for: api, operator
create or replace function leasehold.list_reports(p_report uuid default null, p_before uuid default null, p_limit integer default 50)
returns table (
  report_id uuid, name text, title text, format text, media_type text, sha256 bytea, size bigint,
  lines bigint, created_at timestamptz, expires_at timestamptz
)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query select
    r.report_id, r.name, r.title, r.format, r.media_type, r.sha256, r.size, r.lines, r.created_at, r.expires_at
  from leasehold.report r
  where r.tenant_id = leasehold.current_tenant() and r.expires_at > leasehold.now()
    and r.report_id = coalesce(p_report, r.report_id)
    and r.report_id < coalesce(p_before, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
  order by r.report_id desc limit least(p_limit, 1000);
  if not found and p_report is not null then
    raise exception 'there is no report %', p_report using errcode = 'LH404', hint = 'it may have expired, or its job has not ended';
  end if;
end
$$;
