-- What is limited or paused, beside the limits that every tenant has: queues, kinds, tenants.
-- for: operator
create or replace function leasehold.list_limits()
returns table (what text, name text, max_running integer, paused boolean, running bigint)
language sql stable as $$
  select 'queue', queue, max_running, paused, leasehold.count_queue(queue)::bigint
  from leasehold.queue where paused or max_running is not null
  union all
  select 'kind', kind, max_running, paused, leasehold.count_kind(kind, pg_sequence_last_value('leasehold.token_floor'))
  from leasehold.kind where paused or max_running is not null
  union all
  select 'tenant', name, max_running, paused, (select count(*) from leasehold.lease l where l.tenant_id = t.tenant_id)
  from leasehold.tenant t where paused
  order by 1, 2
$$;
