-- Write the audit log, and tell that something was done: it may have made something due, and those who follow want to see it.
-- internal
create or replace function leasehold.log_action(p_tenant uuid, p_action text, p_target text, p_detail jsonb default null) returns void
language sql volatile as $$
  insert into leasehold.audit (audit_id, tenant_id, actor, action, target, detail, at)
  values (
    leasehold.new_id(leasehold.micros(leasehold.now())), p_tenant,
    leasehold.actor(), p_action, p_target, p_detail, leasehold.now()
  );
  select leasehold.notify_workers(split_part('leasehold.audit', '.', 1) || '_news', '')
$$;
