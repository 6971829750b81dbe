-- Remove reports that have expired, so many at most; returns how many. Their bodies expire with them.
-- for: worker, operator
create or replace function leasehold.purge_reports(p_limit integer default 5000) returns integer
language plpgsql as $$
declare
  v_n integer;
begin
  delete from leasehold.report where report_id in (
    select report_id from leasehold.report where expires_at < leasehold.now()
    order by expires_at limit p_limit for update skip locked
  );
  get diagnostics v_n = row_count;
  return v_n;
end
$$;
