-- Remove events that are older than the history, with their deliveries and attempts, unless one is still on its way; and
-- secrets of endpoints that have expired. A bounded piece at a time; returns how many rows.
-- for: worker, operator
create or replace function leasehold.purge_events(p_history_days integer default 90, p_limit integer default 5000) returns integer
language plpgsql as $$
declare
  v_old     timestamptz := leasehold.now() - make_interval(days => p_history_days);
  v_events  integer;
  v_secrets integer;
begin
  delete from leasehold.webhook_event where event_id in (
    select event_id from leasehold.webhook_event v
    where event_id < leasehold.first_id_of_day(v_old) and not exists (
      select from leasehold.delivery d
      where d.event_id = v.event_id and d.state = 'pending' and d.job_id is not null
        and not exists (select from leasehold.outcome o where o.job_id = d.job_id)
    )
    order by event_id limit p_limit for update skip locked
  );
  get diagnostics v_events = row_count;
  delete from leasehold.secret where owner_id is not null and expires_at < leasehold.now();
  get diagnostics v_secrets = row_count;
  return v_events + v_secrets;
end
$$;
