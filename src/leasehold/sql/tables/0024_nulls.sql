-- No pass is null. That nulls would come first tells this index from the primary key: where a tenant's newest pass is asked for
-- in that order, the planner cannot take the other one, and walk through everybody's jobs. See enqueue_plainly.
-- Hardly two of its entries are alike: with deduplication off, a page that is full is not read in search of them.

drop index leasehold.ready_tenant;
create index ready_tenant on leasehold.ready (lane, tenant_id, pass nulls first) with (deduplicate_items = off);
