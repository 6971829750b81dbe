-- What pages show of flows, approvals and lines, without reading what others have.
create index waiting_approvals on leasehold.waiting (job_id) where what = 'approval';
create index waiting_by_tenant on leasehold.waiting (tenant_id, job_id) where what <> 'end';
create index gated_by_tenant on leasehold.gated (tenant_id, job_id);
create index gate_rule_by_tenant on leasehold.gate_rule (tenant_id, gate);

alter type leasehold.approval_view add attribute tenant_id uuid;

-- A line in which jobs stand: at a group, at a gate, or at the limit of what their tenant runs at once.
create type leasehold.line_view as (
  what text, tenant_id uuid, name text, waiting integer, first_job uuid, running integer, at_once integer, held_by uuid,
  state text, next_at timestamptz
);

drop function if exists leasehold.list_gates(text, text, integer);
drop function if exists leasehold.retry_jobs(uuid[]);
drop function if exists leasehold.cancel_jobs(uuid[], text);
