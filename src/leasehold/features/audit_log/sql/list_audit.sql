-- The newest entries of the audit log, newest first, for the operator; p_before is the last id of the page before.
-- for: operator
create or replace function leasehold.list_audit(p_before uuid default null, p_limit integer default 50) returns setof leasehold.audit
language sql stable as $$
  select * from leasehold.audit
  where audit_id < coalesce(p_before, 'ffffffff-ffff-ffff-ffff-ffffffffffff') order by audit_id desc limit least(p_limit, 1000)
$$;
