-- The tenant of this transaction, if this login may read it; null, and no rows, if not. For the policies of readers.
-- for: readonly
create or replace function leasehold.read_tenant() returns uuid
language sql stable as $$
  select t from (select nullif(current_setting('leasehold.tenant', true), '')::uuid) s(t) where leasehold.may_read(t)
$$;
