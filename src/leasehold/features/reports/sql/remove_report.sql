-- Remove a report of the current tenant: its links lead nowhere from now on. Its body goes when its days are over. Logged.
-- for: api, operator
create or replace function leasehold.remove_report(p_report uuid) returns void
language plpgsql as $$
begin
  delete from leasehold.report where report_id = p_report and tenant_id = leasehold.current_tenant();
  if not found then
    raise exception 'there is no report %', p_report using errcode = 'LH404';
  end if;
  perform leasehold.log_action(leasehold.current_tenant(), 'report.remove', p_report::text, '{}');
end
$$;
