-- Why features let a job of this tenant wait; see explain.
-- internal
create or replace function leasehold.explain_by_features(p_job uuid) returns table (reason text, detail text)
language sql stable as $$
  select * from leasehold.explain_flow(p_job)
  union all
  select * from leasehold.explain_limits(p_job)
$$;
