-- Whether this login may be of this tenant. One that enqueues, works or operates may be of any; one that only reads, of those
-- that the operator has let it read.
-- internal
create or replace function leasehold.may_read(p_tenant uuid) returns boolean
language sql stable as $$
  select pg_has_role(session_user, 'leasehold_api', 'member') or pg_has_role(session_user, 'leasehold_worker', 'member')
    or pg_has_role(session_user, 'leasehold_operator', 'member')
    or exists (select from leasehold.reader where login = session_user and tenant_id = p_tenant)
$$;
