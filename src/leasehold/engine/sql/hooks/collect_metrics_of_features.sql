-- The numbers that features add to collect_metrics.
-- internal
-- settings: index
create or replace function leasehold.collect_metrics_of_features()
returns table (metric text, labels jsonb, value double precision)
language sql stable as $$
  select * from leasehold.collect_schedule_metrics()
  union all
  select * from leasehold.collect_webhook_metrics()
$$;
