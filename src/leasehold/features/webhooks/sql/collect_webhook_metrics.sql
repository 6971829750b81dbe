-- Deliveries under way, and endpoints by state.
-- internal
-- settings: index
create or replace function leasehold.collect_webhook_metrics()
returns table (metric text, labels jsonb, value double precision)
language sql stable as $$
  select 'deliveries', '{"state": "waiting"}'::jsonb, count(*)::double precision
  from (select from leasehold.delivery where job_id is null and state = 'pending' limit 10000) d
  union all
  select 'deliveries', '{"state": "sending"}', count(*)
  from (select from leasehold.delivery where sending_until is not null limit 10000) d
  union all
  select 'endpoints', jsonb_build_object('state', s.state), count(e.endpoint_id)
  from (values ('enabled'), ('paused'), ('disabled')) s(state)
  left join leasehold.endpoint e on e.state = s.state
  group by s.state
$$;
