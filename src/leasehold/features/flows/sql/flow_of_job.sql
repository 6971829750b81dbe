-- The flow that this job of the current tenant is a step of; no row for a job of its own.
-- for: api
create or replace function leasehold.flow_of_job(p_job uuid) returns setof uuid
language sql stable as $$ select flow_id from leasehold.step where job_id = p_job and tenant_id = leasehold.current_tenant() $$;
