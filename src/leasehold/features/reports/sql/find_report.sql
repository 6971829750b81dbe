-- Whose report this is, for a link that was signed: nobody is signed in. Null: there is none, or not any more.
-- for: api
create or replace function leasehold.find_report(p_report uuid) returns uuid
language sql stable as $$
  select tenant_id from leasehold.report where report_id = p_report and expires_at > leasehold.now()
$$;
