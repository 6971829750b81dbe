-- Whether a job fits a filter, its state apart. Plain SQL without settings, so that it is inlined into its caller.
-- internal
-- settings: none
create or replace function leasehold.matches_filter(p_job leasehold.job, p_filter jsonb) returns boolean
language sql stable as $$
  select (not p_filter ? 'kind' or p_job.kind = p_filter ->> 'kind')
    and (not p_filter ? 'queue' or p_job.queue = p_filter ->> 'queue')
    and (not p_filter ? 'key' or p_job.key = p_filter ->> 'key')
    and (not p_filter ? 'tag' or p_filter ->> 'tag' = any(p_job.tags))
    and (not p_filter ? 'created_after' or p_job.created_at >= (p_filter ->> 'created_after')::timestamptz)
    and (not p_filter ? 'created_before' or p_job.created_at < (p_filter ->> 'created_before')::timestamptz)
$$;
