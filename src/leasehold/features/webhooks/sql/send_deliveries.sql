-- Give those of these deliveries that wait a job each; returns how many. One goes on waiting while its endpoint is not
-- enabled, wants others first, or its tenant is over its quota: collect_job_events comes back to it.
--
-- That a delivery has one job at a time needs no key: job_id is set, under the row's lock, in the job's own transaction.
-- internal
create or replace function leasehold.send_deliveries(p_deliveries uuid[]) returns integer
language plpgsql as $$
declare
  c_options constant jsonb := '{"priority": 3, "max_attempts": 10, "timeout_s": 120}';
  v_ids     uuid[];
  v_tenants uuid[];
  v_orders  jsonb[];
  v_jobs    uuid[];
begin
  with waiting as materialized (
    select d.delivery_id, d.tenant_id from leasehold.delivery d
    where d.delivery_id = any(p_deliveries) and d.job_id is null and d.state = 'pending'
      and exists (
        select from leasehold.endpoint e
        where e.endpoint_id = d.endpoint_id and e.state = 'enabled' and (not e.ordered or leasehold.is_next_in_order(d))
      )
      and exists (select from leasehold.tenant t where t.tenant_id = d.tenant_id and t.may_queue)
    for update of d skip locked
  )
  select
    array_agg(delivery_id order by delivery_id), array_agg(tenant_id order by delivery_id),
    array_agg(jsonb_build_object('delivery_id', delivery_id) order by delivery_id)
  into v_ids, v_tenants, v_orders from waiting;
  if v_ids is null then
    return 0;
  end if;
  v_jobs := (leasehold.enqueue('webhook.deliver', v_orders, c_options, p_tenants => v_tenants)).job_ids;
  update leasehold.delivery d set job_id = u.job_id
  from unnest(v_ids, v_jobs) u(delivery_id, job_id) where d.delivery_id = u.delivery_id;
  return cardinality(v_ids);
end
$$;
