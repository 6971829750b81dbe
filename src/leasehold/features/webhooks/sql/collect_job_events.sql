-- Tell endpoints of jobs that have ended (job.succeeded, job.failed, job.dead, job.canceled), and send what waits. Called
-- about once a second; a tenant without an endpoint that wants such events costs nothing.
--
-- Every outcome exactly once, however late its transaction commits. An outcome carries the id of the transaction that
-- wrote it, and collected keeps the snapshot S of the last look. A look takes what is visible to its own snapshot T and
-- was not visible to S, and keeps T, which is the same snapshot: both are parts of one statement. So an outcome is taken
-- by the first look that sees it, and by no later one. None is skipped by the bound on the scan: an outcome with an id
-- below xmin(S) was ended, and so visible, when S was taken. Should two looks overlap, one of them finds the row locked.
--
-- A job that is retried in the moment between its end and the next look has no outcome any more, and that end is not told.
-- Deliveries do not tell of themselves: the first of them would never stop.
-- for: worker
-- settings: index
create or replace function leasehold.collect_job_events() returns integer
language plpgsql as $$
declare
  v_before pg_snapshot;
  v_from   bigint;
  v_events uuid[];
begin
  select snapshot into v_before from leasehold.collected for update skip locked;
  if not found then
    return 0;
  end if;
  if pg_snapshot_xmax(v_before) > pg_snapshot_xmax(pg_current_snapshot()) then
    v_before := leasehold.renumber(v_before);
  end if;
  -- Where nobody wants to be told, nothing is looked at. One statement, for the same reason.
  update leasehold.collected set snapshot = pg_current_snapshot()
  where not exists (select from leasehold.endpoint where state <> 'disabled');
  if found then
    return 0;
  end if;
  v_from := pg_snapshot_xmin(v_before)::text::bigint;

  with looked as (
    update leasehold.collected set snapshot = pg_current_snapshot()
  ),
  told as (
    insert into leasehold.webhook_event (event_id, tenant_id, type, subject_type, subject_id, subject_seq, occurred_at, data)
    select
      leasehold.new_id(leasehold.micros(o.finished_at)), o.tenant_id, 'job.' || o.state, 'job', o.job_id::text, o.seq, o.finished_at,
      jsonb_build_object(
        'job_id', o.job_id, 'kind', j.kind, 'queue', j.queue, 'state', o.state, 'key', j.key, 'tags', to_jsonb(j.tags),
        'created_at', j.created_at, 'finished_at', o.finished_at, 'attempts', coalesce(a.attempt, 0),
        'error', coalesce(o.error, case when o.state <> 'succeeded' then a.error end) - 'traceback'
      )
    from leasehold.outcome o
    join leasehold.job j on j.job_id = o.job_id
    left join lateral (
      select attempt, error from leasehold.attempt where job_id = o.job_id order by finished_seq desc limit 1
    ) a on true
    where o.xid >= v_from and not pg_visible_in_snapshot(o.xid::text::xid8, v_before)
      and j.kind <> 'webhook.deliver'
      and exists (
        select from leasehold.endpoint e
        where e.tenant_id = o.tenant_id and e.state <> 'disabled' and leasehold.endpoint_wants(e.events, 'job.' || o.state)
          and e.created_at <= o.finished_at
      )
    on conflict do nothing
    returning event_id
  )
  select array_agg(event_id) into v_events from told;

  if v_events is not null then
    perform leasehold.insert_deliveries(v_events);
  end if;
  return leasehold.send_deliveries(array(
    select d.delivery_id
    from leasehold.endpoint e cross join lateral (
      select delivery_id from leasehold.delivery
      where endpoint_id = e.endpoint_id and job_id is null and state = 'pending' order by delivery_id limit 1000
    ) d
    where e.state = 'enabled' limit 5000
  ));
end
$$;
