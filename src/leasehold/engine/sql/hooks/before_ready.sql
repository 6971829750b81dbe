-- Jobs that have just been put into ready, because their time has come: features may take them out
-- again, to where they wait for something else.
-- internal
-- settings: inherited
create or replace function leasehold.before_ready(p_jobs uuid[]) returns void
language plpgsql as $$
begin
  perform leasehold.line_up_due_jobs(p_jobs);
end
$$;
