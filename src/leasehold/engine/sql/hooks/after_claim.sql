-- These jobs, which have a group, a gate or a flow, have just started.
-- internal
-- settings: inherited
create or replace function leasehold.after_claim(p_jobs uuid[]) returns void
language plpgsql as $$
begin
  perform leasehold.ring_next(p_jobs);
end
$$;
