-- These jobs have ended, p_failed without success, or leave the place where they wait: they give up
-- what they have taken.
-- for: features
-- settings: inherited
create or replace function leasehold.after_leave(p_jobs uuid[], p_failed uuid[]) returns void
language plpgsql as $$
begin
  perform leasehold.leave_groups(p_jobs, p_failed);
end
$$;
