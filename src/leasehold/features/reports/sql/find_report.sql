-- Whose report this is, for a link that was signed: nobody is signed in. Null: there is none, or not any more.
create or replace function leasehold.find_report(p_report uuid) returns uuid
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select tenant_id from leasehold.report where report_id = p_report and expires_at > leasehold.now()
$$;

revoke all on function leasehold.find_report(uuid) from public;
grant execute on function leasehold.find_report(uuid) to leasehold_api;
