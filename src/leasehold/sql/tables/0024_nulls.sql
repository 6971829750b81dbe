-- No pass is null. That nulls would come first tells this index from the primary key: where a tenant's newest pass is asked for
-- in that order, the planner cannot take the other one, and walk through everybody's jobs. See enqueue_plainly.

drop index leasehold.ready_tenant;
create index ready_tenant on leasehold.ready (lane, tenant_id, pass nulls first);
