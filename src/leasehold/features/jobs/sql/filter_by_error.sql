-- Those of these jobs whose error fits the fingerprint and the part of a text that a filter names; all, if it names none.
-- internal
create or replace function leasehold.filter_by_error(p_jobs uuid[], p_filter jsonb) returns uuid[]
language plpgsql stable as $$
begin
  if not p_filter ?| array['error', 'fingerprint'] then
    return p_jobs;
  end if;
  return array(
    select e.job_id
    from (
      select j.job_id, j.kind, coalesce(o.error, (
        select a.error from leasehold.attempt a where a.job_id = o.job_id order by a.token desc limit 1
      )) as error
      from leasehold.outcome o join leasehold.job j on j.job_id = o.job_id
      where o.job_id = any(p_jobs) and o.state in ('failed', 'dead')
    ) e
    where (not p_filter ? 'fingerprint' or leasehold.fingerprint(e.kind, e.error) = p_filter ->> 'fingerprint')
      and (not p_filter ? 'error' or position(lower(p_filter ->> 'error') in lower(e.error::text)) > 0)
    order by e.job_id desc
  );
end
$$;
