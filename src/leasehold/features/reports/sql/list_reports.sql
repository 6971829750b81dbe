-- Reports of the current tenant that have not expired, newest first, or the one that is asked for; p_before is the last id
-- of the page before.
create or replace function leasehold.list_reports(p_report uuid default null, p_before uuid default null, p_limit integer default 50)
returns setof leasehold.report_view
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
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

revoke all on function leasehold.list_reports(uuid, uuid, integer) from public;
grant execute on function leasehold.list_reports(uuid, uuid, integer) to leasehold_api, leasehold_operator;
