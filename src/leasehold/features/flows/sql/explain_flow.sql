-- What a step of a flow waits for.
-- internal
create or replace function leasehold.explain_flow(p_job uuid) returns table (reason text, detail text)
language sql stable as $$
  select 'flow', case w.what
    when 'parents' then format('it waits for %s steps of its flow', d.n)
    when 'approval' then 'it waits for a person: leasehold approvals approve ' || p_job
    when 'signal' then format('it waits for signal %s with key %s', w.signal, w.key)
    else format('it sleeps until %s', w.until)
  end
  from leasehold.waiting w cross join lateral (
    select case when count(*) > 1000 then 'more than 1000' else count(*)::text end as n
    from (select from leasehold.dep d where d.child = p_job limit 1001) d
  ) d
  where w.job_id = p_job
$$;
