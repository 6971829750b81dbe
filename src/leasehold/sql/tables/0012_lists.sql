-- What lists and counts of people ask for: the newest of a state, without reading what others have.
create index deferred_by_tenant on leasehold.deferred (tenant_id, job_id);
create index blocked_by_tenant on leasehold.blocked (tenant_id, job_id);
create index outcome_by_state on leasehold.outcome (state, job_id) where state <> 'succeeded';
