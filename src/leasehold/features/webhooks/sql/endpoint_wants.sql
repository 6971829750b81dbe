-- Whether a list of event types takes this one: job.dead takes job.dead, job.* what begins with job., * everything.
-- internal
create or replace function leasehold.endpoint_wants(p_events text[], p_type text) returns boolean
language sql immutable as $$
  select '*' = any(p_events) or p_type = any(p_events) or exists (
    select from unnest(p_events) e where right(e, 2) = '.*' and starts_with(p_type, left(e, -1))
  )
$$;
