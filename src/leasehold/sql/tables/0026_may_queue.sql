-- Whether a tenant is on the list over_quota, beside the stride that every enqueue asks for: to look into a second table takes
-- longer than to find the tenant. Kept by count_waiting, which keeps the list.
alter table leasehold.tenant add column may_queue boolean not null default true;
update leasehold.tenant set may_queue = false where tenant_id in (select tenant_id from leasehold.over_quota);
