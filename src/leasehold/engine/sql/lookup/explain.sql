-- Why is this job not running? One row for each reason, the one to look at first on top; none when it runs or has ended.
-- for: api, worker, readonly
create or replace function leasehold.explain(p_job uuid) returns table (reason text, detail text)
language plpgsql stable as $$
#variable_conflict use_column
declare
  v_tenant uuid := leasehold.current_tenant();
  v_now    timestamptz := leasehold.now();
  v_job    leasehold.job_view;
begin
  select * into v_job from leasehold.view_jobs(v_tenant, array[p_job], true);
  if v_job.job_id is null then
    raise exception 'there is no job %', p_job using errcode = 'LH404', hint = 'leasehold jobs list';
  end if;
  if v_job.state not in ('queued', 'scheduled', 'blocked') then
    return;
  end if;

  return query
    select 'expired', format('expires_at %s has passed: it will be canceled when its turn comes', v_job.expires_at)
    where v_job.expires_at <= v_now
    union all
    select 'paused', format('queue %s is paused', v_job.queue)
    from leasehold.queue where queue = v_job.queue and paused
    union all
    select 'run_at', format('%s until %s', d.why, d.run_at)
    from leasehold.deferred d where d.job_id = p_job and d.run_at > v_now
    union all
    select 'no worker', case
      when count(*) = 0 then 'no worker is alive'
      when count(*) = 1 then format('the one worker alive does not handle %s from queue %s', v_job.kind, v_job.queue)
      else format('none of the %s workers alive handles %s from queue %s', count(*), v_job.kind, v_job.queue)
    end
    from leasehold.worker w where w.ended_at is null
    having count(*) filter (where v_job.kind = any(w.kinds) and v_job.queue = any(w.queues)) = 0 and v_job.kind not like 'flow.%'
    union all
    select 'paused', 'the tenant is paused' from leasehold.tenant where tenant_id = v_tenant and paused
    union all
    select 'paused', format('kind %s is paused', kind) from leasehold.kind where kind = v_job.kind and paused
    union all
    select 'running limit', case
      when p.kind is null then format('the tenant runs as many jobs as it may (%s)', t.max_running)
      else format('as many jobs of kind %s run as may (%s)', p.kind, (select max_running from leasehold.kind k where k.kind = p.kind))
    end
    from leasehold.parked p join leasehold.tenant t on t.tenant_id = p.tenant_id
    where p.job_id = p_job and not t.paused and not exists (select from leasehold.kind k where k.kind = p.kind and k.paused)
    union all
    select 'running limit', format('as many jobs of queue %s run as may (%s)', queue, max_running)
    from leasehold.queue where queue = v_job.queue and max_running <= leasehold.count_queue(queue)
    union all
    select * from leasehold.explain_by_features(p_job)
    union all
    select 'its turn', format('%s jobs of this tenant stand before it in queue %s at priority %s', ahead.n, v_job.queue, v_job.priority)
    from leasehold.ready_of(p_job) mine
    cross join lateral (
      select case when count(*) > 1000 then 'more than 1000' else count(*)::text end as n
      from (
        select from leasehold.ready r
        where r.lane = mine.lane and r.tenant_id = v_tenant and r.pass < mine.pass limit 1001
      ) r
    ) ahead;
end
$$;
